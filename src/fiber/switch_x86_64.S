/*
 * System V x86-64. The frame, from the stack pointer up: r15 r14 r13 r12 rbx rbp, the address to go on.
 * A first frame has the entry in rbx and its argument in r12, and goes on at the trampoline.
 */
	.text

	.globl edo_switch
	.hidden edo_switch
	.type edo_switch, @function
	.p2align 4
edo_switch:
	.cfi_startproc
	pushq %rbp
	.cfi_adjust_cfa_offset 8
	pushq %rbx
	.cfi_adjust_cfa_offset 8
	pushq %r12
	.cfi_adjust_cfa_offset 8
	pushq %r13
	.cfi_adjust_cfa_offset 8
	pushq %r14
	.cfi_adjust_cfa_offset 8
	pushq %r15
	.cfi_adjust_cfa_offset 8
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	.cfi_adjust_cfa_offset -8
	popq %r14
	.cfi_adjust_cfa_offset -8
	popq %r13
	.cfi_adjust_cfa_offset -8
	popq %r12
	.cfi_adjust_cfa_offset -8
	popq %rbx
	.cfi_adjust_cfa_offset -8
	popq %rbp
	.cfi_adjust_cfa_offset -8
	popq %rcx
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rcx
	jmpq *%rcx
	.cfi_endproc
	.size edo_switch, .-edo_switch

	.globl edo_switch_trampoline
	.hidden edo_switch_trampoline
	.type edo_switch_trampoline, @function
	.p2align 4
edo_switch_trampoline:
	.cfi_startproc
	.cfi_undefined %rip		/* unwinding ends here */
	movq %r12, %rdi
	callq *%rbx
	ud2
	.cfi_endproc
	.size edo_switch_trampoline, .-edo_switch_trampoline

	.section .note.GNU-stack,"",@progbits
