/*
 * AAPCS64. The frame, from the stack pointer up: x19-x28, x29 (frame), x30 (where to go on), d8-d15.
 * A first frame has the entry in x19 and its argument in x20, and goes on at the trampoline.
 */
	.text

	.globl edo_switch
	.hidden edo_switch
	.type edo_switch, %function
	.p2align 4
edo_switch:
	.cfi_startproc
	sub sp, sp, #160
	.cfi_adjust_cfa_offset 160
	stp x19, x20, [sp, #0]
	stp x21, x22, [sp, #16]
	stp x23, x24, [sp, #32]
	stp x25, x26, [sp, #48]
	stp x27, x28, [sp, #64]
	stp x29, x30, [sp, #80]
	stp d8, d9, [sp, #96]
	stp d10, d11, [sp, #112]
	stp d12, d13, [sp, #128]
	stp d14, d15, [sp, #144]
	mov x9, sp
	str x9, [x0]
	mov sp, x1
	ldp x19, x20, [sp, #0]
	ldp x21, x22, [sp, #16]
	ldp x23, x24, [sp, #32]
	ldp x25, x26, [sp, #48]
	ldp x27, x28, [sp, #64]
	ldp x29, x30, [sp, #80]
	ldp d8, d9, [sp, #96]
	ldp d10, d11, [sp, #112]
	ldp d12, d13, [sp, #128]
	ldp d14, d15, [sp, #144]
	add sp, sp, #160
	.cfi_adjust_cfa_offset -160
	br x30
	.cfi_endproc
	.size edo_switch, .-edo_switch

	.globl edo_switch_trampoline
	.hidden edo_switch_trampoline
	.type edo_switch_trampoline, %function
	.p2align 4
edo_switch_trampoline:
	.cfi_startproc
	.cfi_undefined x30		/* unwinding ends here */
	mov x0, x20
	blr x19
	brk #1
	.cfi_endproc
	.size edo_switch_trampoline, .-edo_switch_trampoline

	.section .note.GNU-stack,"",%progbits
