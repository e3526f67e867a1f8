#include "support/limit.h"
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define STATUS_TIMED_OUT 124
#define LAST_RESORT_SECONDS 10
#define STACK_SIZE ((size_t)256 * 1024)

static const char *volatile running;

/*
 * The kernel kills a program that the handler did not end: ThreadSanitizer holds signals back until
 * the next call of libc, which a loop that spins never makes. The test's name stands on stdout.
 */
static timer_t last_resort;
static int has_last_resort;

static void say(const char *text)
{
	ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

	(void)ignored;
}

/* Only what is legal in a signal handler: the program may hang inside malloc or stdio. */
static void on_alarm(int signal)
{
	(void)signal;
	say("\n[  LIMIT   ] ");
	say(running ? running : "?");
	say(": past its time limit, presumably hung at:\n");
	edo_test_backtrace();
	_exit(STATUS_TIMED_OUT);
}

static void arm_last_resort(unsigned seconds)
{
	const struct itimerspec when = { .it_value.tv_sec = seconds };

	if (has_last_resort)
		timer_settime(last_resort, 0, &when, NULL);
}

void edo_test_limit_prepare(void)
{
	struct sigevent death = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = STACK_SIZE };

	stack.ss_sp =
		mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) < 0)
		action.sa_flags = 0;
	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	has_last_resort = timer_create(CLOCK_MONOTONIC, &death, &last_resort) == 0;
	edo_test_backtrace_prepare();
}

void edo_test_limit_begin(const char *test_name, unsigned seconds)
{
	running = test_name;
	alarm(seconds);
	arm_last_resort(seconds + LAST_RESORT_SECONDS);
}

void edo_test_limit_end(void)
{
	alarm(0);
	arm_last_resort(0);
	running = NULL;
}
