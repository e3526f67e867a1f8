/*
 * Where a program's data begin, for a C library whose start code does not say so. Linked before all else
 * that has data; what start code has before it is constant.
 */
extern char __data_start[];

__attribute__((section(".data"), aligned(16))) char __data_start[16];
