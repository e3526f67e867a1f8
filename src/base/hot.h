/*
 * Marks what every request runs through. The linker then lays those functions side by side: after a system
 * call the processor's table of pages may be cold, and each page of code costs a walk.
 */
#ifndef EDO_BASE_HOT_H
#define EDO_BASE_HOT_H

#define EDO_HOT __attribute__((hot))

#endif
