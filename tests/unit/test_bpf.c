/* What filters do to a call, found out without asking the kernel. */
#include "agent/bpf.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <cmocka.h>

#if defined(__x86_64__)
#define OWN AUDIT_ARCH_X86_64
#else
#define OWN AUDIT_ARCH_AARCH64
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(test, number, yes, no) BPF_JUMP(BPF_JMP | (test) | BPF_K, (number), (yes), (no))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define PERMIT RETURN(SECCOMP_RET_ALLOW)
#define KILL RETURN(SECCOMP_RET_KILL_PROCESS)
#define ENDS(call, ...)                                                                            \
	bpf_may_end((const struct sock_filter[]){__VA_ARGS__},                                     \
		    sizeof((const struct sock_filter[]){__VA_ARGS__}) / sizeof(struct sock_filter), \
		    call)

static void test_every_action(void **state)
{
	(void)state;
	assert_false(ENDS(5, PERMIT));
	assert_false(ENDS(5, RETURN(SECCOMP_RET_LOG)));
	assert_false(ENDS(5, RETURN(SECCOMP_RET_ERRNO | 38)));
	assert_true(ENDS(5, KILL));
	assert_true(ENDS(5, RETURN(SECCOMP_RET_KILL_THREAD)));
	assert_true(ENDS(5, RETURN(SECCOMP_RET_TRAP)));
	assert_true(ENDS(5, RETURN(SECCOMP_RET_TRACE)));
	assert_true(ENDS(5, RETURN(SECCOMP_RET_USER_NOTIF)));
	assert_true(ENDS(5, RETURN(0x12340000)));
}

static void test_a_handler_must_end(void **state)
{
	(void)state;
	assert_true(ENDS(SYS_rt_sigreturn, RETURN(SECCOMP_RET_ERRNO | 1)));
}

static void test_what_is_permitted_by_number(void **state)
{
	(void)state;
#define LIST LOAD(arch), IF(BPF_JEQ, OWN, 1, 0), KILL, LOAD(nr), IF(BPF_JEQ, 7, 1, 0), KILL, PERMIT
	assert_false(ENDS(7, LIST));
	assert_true(ENDS(8, LIST));
}

static void test_other_architectures_do_not_count(void **state)
{
	(void)state;
	assert_false(ENDS(7, LOAD(arch), IF(BPF_JEQ, OWN ^ 1, 0, 1), KILL, PERMIT));
}

static void test_every_question(void **state)
{
	(void)state;
	for (uint32_t call = 5; call <= 7; call++) {
		assert_int_equal(ENDS(call, LOAD(nr), IF(BPF_JGT, 6, 1, 0), KILL, PERMIT), call <= 6);
		assert_int_equal(ENDS(call, LOAD(nr), IF(BPF_JGE, 6, 1, 0), KILL, PERMIT), call < 6);
		assert_int_equal(ENDS(call, LOAD(nr), IF(BPF_JSET, 1, 1, 0), KILL, PERMIT), call == 6);
	}
	assert_false(ENDS(7, BPF_STMT(BPF_JMP | BPF_JA, 1), KILL, PERMIT));
}

static void test_registers(void **state)
{
	(void)state;
	/* X is the call's number, A is 6. */
#define IN_X                                                                                       \
	LOAD(nr), BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_LD | BPF_IMM, 6),                  \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 1, 0), KILL, PERMIT
	assert_false(ENDS(6, IN_X));
	assert_true(ENDS(7, IN_X));
	assert_false(ENDS(6, BPF_STMT(BPF_LDX | BPF_IMM, 5), BPF_STMT(BPF_MISC | BPF_TXA, 0),
			  IF(BPF_JEQ, 5, 1, 0), KILL, PERMIT));
	assert_true(ENDS(6, LOAD(args[0]), BPF_STMT(BPF_RET | BPF_A, 0)));
}

/* What depends on arguments, on arithmetic or on memory may go either way. */
static void test_what_is_not_known(void **state)
{
	(void)state;
	assert_true(ENDS(7, LOAD(args[1]), IF(BPF_JEQ, 7, 1, 0), KILL, PERMIT));
	assert_true(ENDS(7, LOAD(args[1]), IF(BPF_JEQ, 7, 0, 1), KILL, PERMIT));
	assert_false(ENDS(7, LOAD(args[1]), IF(BPF_JEQ, 7, 1, 0), PERMIT, PERMIT));
	assert_true(ENDS(7, LOAD(nr), BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1), IF(BPF_JEQ, 8, 1, 0), KILL,
			 PERMIT));
	assert_true(ENDS(7, LOAD(nr), BPF_STMT(BPF_ST, 0), BPF_STMT(BPF_LD | BPF_MEM, 0),
			 IF(BPF_JEQ, 7, 1, 0), KILL, PERMIT));
}

static void test_no_end_and_too_many_ways(void **state)
{
	struct sock_filter steps[400];
	(void)state;
	assert_true(ENDS(7, LOAD(nr)));
	assert_true(ENDS(7, BPF_STMT(BPF_JMP | BPF_JA, 0xffffffffu), PERMIT));
	steps[0] = (struct sock_filter)LOAD(args[0]);
	for (size_t i = 1; i < 399; i++) /* 2^398 ways */
		steps[i] = (struct sock_filter)IF(BPF_JEQ, (uint32_t)i, (uint8_t)(i < 398), 0);
	steps[399] = (struct sock_filter)PERMIT;
	assert_true(bpf_may_end(steps, 400, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_action),
		cmocka_unit_test(test_a_handler_must_end),
		cmocka_unit_test(test_what_is_permitted_by_number),
		cmocka_unit_test(test_other_architectures_do_not_count),
		cmocka_unit_test(test_every_question),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_what_is_not_known),
		cmocka_unit_test(test_no_end_and_too_many_ways),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
