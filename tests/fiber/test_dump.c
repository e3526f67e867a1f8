/* Dumps: a line for each task, written by whoever may read what it waits for. */
#include "scheduler/gate.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* What was written to a pipe so far. The pipe takes 64 KiB, more than any of these dumps. */
struct text {
	int fds[2];
	char bytes[65536];
};

static struct text text;

static int begin(void **state)
{
	(void)state;
	assert_return_code(pipe2(text.fds, O_NONBLOCK | O_CLOEXEC), 0);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	close(text.fds[0]);
	close(text.fds[1]);
	return 0;
}

static const char *written(void)
{
	ssize_t n = read(text.fds[0], text.bytes, sizeof text.bytes - 1);

	text.bytes[n > 0 ? n : 0] = 0;
	return text.bytes;
}

static unsigned lines(const char *bytes)
{
	unsigned n = 0;

	for (; *bytes; bytes++)
		n += *bytes == '\n';
	return n;
}

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)

/* ---- what a line says ---- */

static int sleeps(void *arg)
{
	(void)arg;
	return edo_sleep(EDO_HOUR(1));
}

static int sleeps_under_a_deadline(void *arg)
{
	edo_deadline scope;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_MIN(1)) == 0);
	return edo_shield(sleeps, NULL, NULL);
}

static int waits_with_a_limit(void *arg)
{
	return edo_timeout(EDO_MIN(2), arg);
}

static int waits_for_either(void *arg)
{
	edo_yield_future never;
	edo_future *either[] = { arg, NULL, edo_yield_start(&never) };
	edo_select_future select;
	edo_future *all[] = { arg, edo_select_start(&select, either, 2) };
	int results[2];

	return edo_join_all(all, 2, results);
}

struct stackless {
	edo_async async;
	struct gate *gate;
};

static edo_poll stackless_poll(edo_future *future, edo_context *cx)
{
	struct stackless *me = edo_container_of(future, struct stackless, async.future);

	EDO_BEGIN(me, cx);
	EDO_AWAIT(&me->gate->future);
	EDO_END(0);
}

static void stackless_drop(edo_future *future)
{
	edo_async_drop(&edo_container_of(future, struct stackless, async.future)->async);
}

EDO_ASYNC_OPS(stackless_ops, struct stackless, async, stackless_poll, stackless_drop);

static int has_neighbours(void *arg)
{
	struct gate limited, unlimited;
	struct stackless stackless = { EDO_ASYNC(stackless_ops), &unlimited };
	edo_task *tasks[5];
	const char *dump;

	(void)arg;
	gate_init(&limited);
	gate_init(&unlimited);
	CHECK(edo_spawn(NULL, &stackless.async.future, &tasks[0]) == 0);
	CHECK(edo_spawn_fiber(NULL, sleeps_under_a_deadline, NULL, 0, &tasks[1]) == 0);
	CHECK(edo_spawn_fiber(NULL, waits_with_a_limit, &limited.future, 0, &tasks[2]) == 0);
	CHECK(edo_spawn_fiber(NULL, waits_for_either, &limited.future, 0, &tasks[4]) == 0);
	CHECK(edo_yield() == 0);
	CHECK(edo_spawn_fiber(NULL, sleeps, NULL, 0, &tasks[3]) == 0);
	edo_task_abort(tasks[1]);
	CHECK(edo_dump(NULL, text.fds[1]) == 0);
	dump = written();
	CHECK(lines(dump) == 7);
	CHECK(strstr(dump, "edo: runtime \"edo\": 6 tasks\n"));
	CHECK(strstr(dump, ": struct stackless: waiting for struct gate\n"));
	CHECK(strstr(dump, ": fiber: ready for edo_timer, cancelled, shielded, runs "));
	CHECK(strstr(dump, ": fiber: waiting for edo_timeout_future of (struct gate), runs "));
	CHECK(strstr(dump, ": fiber: waiting for edo_join_all_future of (struct gate, "
			   "edo_select_future of (struct gate)), runs "));
	CHECK(strstr(dump, ": fiber: running, runs "));
	CHECK(strstr(dump, ": fiber: ready, runs "));
	gate_open(&limited);
	gate_open(&unlimited);
	for (int i = 0; i < 5; i++) {
		edo_task_abort(tasks[i]);
		if (i != 1)
			CHECK(edo_task_join(tasks[i], NULL) == 0);
	}
	edo_task_detach(tasks[1]);
	return 0;
}

static void a_line_says_what_a_task_is_and_waits_for(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;

	(void)state;
	config.shutdown_timeout = 1; /* the shielded one would sleep for an hour */
	runtime = runtime_with(&config);
	assert_int_equal(run_on(runtime, has_neighbours, NULL), 0);
	assert_int_equal(edo_runtime_destroy(runtime), -ETIMEDOUT);
}

static int is_under_a_deadline(void *arg)
{
	edo_deadline scope;
	edo_group *group;
	const char *dump;

	(void)arg;
	CHECK(edo_deadline_begin(&scope, EDO_SEC(90)) == 0);
	CHECK(edo_group_create(&group) == 0);
	CHECK(edo_group_go(group, sleeps, NULL, 0) == 0);
	CHECK(edo_dump(NULL, text.fds[1]) == 0);
	dump = written();
	CHECK(strstr(dump, "running, deadline in 90.000 s, runs "));
	CHECK(strstr(dump, "ready, in group 0x"));
	edo_group_cancel(group);
	return edo_group_wait(group, NULL);
}

static void a_fibers_line_has_its_deadline_and_its_group(void **state)
{
	edo_config config = EDO_CONFIG_INIT;
	edo_runtime *runtime;

	(void)state;
	config.start_paused = true;
	runtime = runtime_with(&config);
	assert_int_equal(run_on(runtime, is_under_a_deadline, NULL), 0);
	runtime_end(runtime);
}

/* ---- from where ---- */

static void while_nobody_drives_it_is_written_at_once(void **state)
{
	edo_runtime *runtime = runtime_new();
	edo_task *task;

	(void)state;
	assert_int_equal(edo_spawn_fiber(runtime, sleeps, NULL, 0, &task), 0);
	assert_int_equal(edo_dump(runtime, text.fds[1]), 0);
	assert_int_equal(lines(written()), 2);
	edo_task_abort(task);
	assert_int_equal(edo_task_join(task, NULL), 0);
	assert_int_equal(edo_dump(runtime, text.fds[1]), 0);
	assert_string_equal(written(), "edo: runtime \"edo\": 0 tasks\n");
	runtime_end(runtime);
}

/* Blocks until a whole dump of one task has come. */
static void read_two_lines(void)
{
	size_t n = 0;

	text.bytes[0] = 0;
	while (lines(text.bytes) < 2) {
		ssize_t got = read(text.fds[0], text.bytes + n, sizeof text.bytes - 1 - n);

		if (got > 0)
			n += (size_t)got;
		else
			sched_yield();
		text.bytes[n] = 0;
	}
}

struct outside {
	edo_runtime *runtime;
	struct gate gate;
	int is_there;
	void (*ask)(edo_runtime *runtime);
};

static void *asks_from_outside(void *arg)
{
	struct outside *outside = arg;

	wait_until_set(&outside->is_there);
	outside->ask(outside->runtime);
	read_two_lines();
	gate_open(&outside->gate);
	return NULL;
}

static int waits_at_the_gate(void *arg)
{
	struct outside *outside = arg;

	set(&outside->is_there);
	return edo_await(&outside->gate.future);
}

static void ask_for_a_dump(edo_runtime *runtime)
{
	if (edo_dump(runtime, text.fds[1]) < 0)
		abort();
}

static void request_a_dump(edo_runtime *runtime)
{
	edo_dump_request(runtime, text.fds[1]);
}

static edo_runtime *signalled;

static void request_in_a_handler(int signal)
{
	int saved_errno = errno;

	(void)signal;
	edo_dump_request(signalled, text.fds[1]);
	errno = saved_errno;
}

static pthread_t driving;

static void signal_who_drives(edo_runtime *runtime)
{
	(void)runtime;
	pthread_kill(driving, SIGUSR1);
}

static void ask_while_another_thread_drives(const edo_config *config,
					    void (*ask)(edo_runtime *runtime))
{
	edo_runtime *runtime = runtime_with(config);
	struct outside outside = { .runtime = runtime, .ask = ask };
	pthread_t thread;

	gate_init(&outside.gate);
	driving = pthread_self();
	signalled = runtime;
	assert_int_equal(pthread_create(&thread, NULL, asks_from_outside, &outside), 0);
	assert_int_equal(run_on(runtime, waits_at_the_gate, &outside), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_non_null(strstr(text.bytes, ": fiber: "));
	runtime_end(runtime);
}

static void from_another_thread_it_wakes_who_drives(void **state)
{
	edo_config config = EDO_CONFIG_INIT;

	(void)state;
	for (int i = 0; i < 2; i++) {
		config.disable_io = i == 1;
		ask_while_another_thread_drives(&config, ask_for_a_dump);
		ask_while_another_thread_drives(&config, request_a_dump);
	}
}

static void from_a_signal_handler_it_wakes_who_drives(void **state)
{
	struct sigaction action = { .sa_handler = request_in_a_handler }, before;
	edo_config config = EDO_CONFIG_INIT;

	(void)state;
	sigemptyset(&action.sa_mask);
	assert_return_code(sigaction(SIGUSR1, &action, &before), 0);
	for (int i = 0; i < 2; i++) {
		config.disable_io = i == 1;
		ask_while_another_thread_drives(&config, signal_who_drives);
	}
	assert_return_code(sigaction(SIGUSR1, &before, NULL), 0);
}

static int sleeps_shortly(void *arg)
{
	(void)arg;
	return edo_sleep(1);
}

static void a_request_to_a_runtime_nobody_drives_is_kept(void **state)
{
	edo_runtime *runtime = runtime_new();

	(void)state;
	edo_dump_request(runtime, text.fds[1]);
	edo_dump_request(runtime, -1);
	edo_dump_request(NULL, text.fds[1]);
	assert_int_equal(lines(written()), 0);
	assert_int_equal(run_on(runtime, sleeps_shortly, NULL), 0);
	assert_int_equal(lines(written()), 2);
	runtime_end(runtime);
}

/* ---- many, and misuse ---- */

enum { MANY = 1000 };

static int dumps_many(void *arg)
{
	edo_group *group;
	int *null = arg;

	CHECK(edo_group_create(&group) == 0);
	for (int i = 0; i < MANY; i++)
		CHECK(edo_group_go(group, sleeps, NULL, 0) == 0);
	CHECK(edo_yield() == 0);
	CHECK(edo_dump(NULL, *null) == 0);
	edo_group_cancel(group);
	return edo_group_wait(group, NULL);
}

static void a_thousand_tasks_have_a_thousand_lines(void **state)
{
	edo_runtime *runtime = runtime_new();
	char byte;
	FILE *file = tmpfile();
	unsigned n = 0;
	int fd;

	(void)state;
	assert_non_null(file);
	fd = fileno(file);
	assert_int_equal(run_on(runtime, dumps_many, &fd), 0);
	assert_return_code(lseek(fd, 0, SEEK_SET), 0);
	while (fread(&byte, 1, 1, file) == 1)
		n += byte == '\n';
	assert_int_equal(n, MANY + 2);
	fclose(file);
	runtime_end(runtime);
}

static void what_cannot_be_written_is_told_and_raises_no_signal(void **state)
{
	edo_runtime *runtime = runtime_new();
	int closed[2];

	(void)state;
	assert_int_equal(edo_dump(NULL, text.fds[1]), -EINVAL);
	assert_int_equal(edo_dump(runtime, -1), -EBADF);
	assert_int_equal(edo_dump(runtime, 1 << 20), -EBADF);
	assert_return_code(pipe(closed), 0);
	close(closed[0]);
	assert_int_equal(edo_dump(runtime, closed[1]), -EPIPE);
	close(closed[1]);
	while (write(text.fds[1], text.bytes, 512) > 0)
		continue;
	assert_int_equal(edo_dump(runtime, text.fds[1]), -EAGAIN);
	runtime_end(runtime);
}

#define WITH_PIPE(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static const struct CMUnitTest tests[] = {
	WITH_PIPE(a_line_says_what_a_task_is_and_waits_for),
	WITH_PIPE(a_fibers_line_has_its_deadline_and_its_group),
	WITH_PIPE(while_nobody_drives_it_is_written_at_once),
	WITH_PIPE(from_another_thread_it_wakes_who_drives),
	WITH_PIPE(from_a_signal_handler_it_wakes_who_drives),
	WITH_PIPE(a_request_to_a_runtime_nobody_drives_is_kept),
	WITH_PIPE(a_thousand_tasks_have_a_thousand_lines),
	WITH_PIPE(what_cannot_be_written_is_told_and_raises_no_signal),
};

EDO_TEST_MAIN(tests)
