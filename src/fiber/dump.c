/*
 * Dumps: a line for each task. Written while nobody else polls, so what a task waits for can be
 * read: by the thread that drives between two polls (an errand), amid a task of this thread, or here while nobody drives.
 */
#include "base/sys.h"
#include "private.h"
#include <errno.h>
#include <edo/dump.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Futures within futures, and beside each other, that a line names. */
enum { DEEPEST = 4, WIDEST = 8 };

/* What is written gathers here; after the first failure nothing more is. */
struct report {
	struct edo_runtime *runtime;
	int fd;
	int rc;
	size_t length;
	char text[1024];
};

static void flush(struct report *report)
{
	size_t at = 0;

	while (report->rc == 0 && at < report->length) {
		ssize_t n = edo_sys_write(report->fd, report->text + at, report->length - at);

		if (n < 0)
			report->rc = (int)n;
		else
			at += (size_t)n;
	}
	report->length = 0;
}

/* What does not fit is cut. */
__attribute__((format(printf, 2, 3))) static void add(struct report *report, const char *format,
						      ...)
{
	size_t room = sizeof report->text - report->length;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(report->text + report->length, room, format, arguments);
	va_end(arguments);
	if (n > 0)
		report->length += (size_t)n < room ? (size_t)n : room - 1;
}

static void add_code(struct report *report, const char *what, const void *code)
{
	char text[128];

	edo_sys_name_code(code, text, sizeof text);
	add(report, "%s%s", what, text);
}

static void add_duration(struct report *report, const char *what, edo_duration ns)
{
	add(report, "%s%" PRIu64 ".%03" PRIu64 " s", what, ns / EDO_SEC(1),
	    ns % EDO_SEC(1) / EDO_MS(1));
}

/* ---- what it waits for ---- */

static const edo_future *awaited(const edo_future *future, unsigned n)
{
	return future->ops->awaits ? future->ops->awaits(future, n) : NULL;
}

static void add_future(struct report *report, const edo_future *future, unsigned depth)
{
	const edo_future *inner = awaited(future, 0);

	add(report, "%s", future->ops->name ? future->ops->name : "a future");
	if (!inner || depth == DEEPEST)
		return;
	add(report, " of (");
	for (unsigned n = 0; inner && n < WIDEST; n++) {
		if (n > 0)
			add(report, ", ");
		add_future(report, inner, depth + 1);
		inner = awaited(future, n + 1);
	}
	add(report, inner ? ", ...)" : ")");
}

static void add_wait(struct report *report, const edo_future *core)
{
	const edo_future *future = awaited(core, 0);

	if (!future)
		return;
	add(report, " for ");
	add_future(report, future, 0);
}

/* ---- tasks ---- */

static const char *standing(uint64_t state)
{
	if (edo_state_has(state, EDO_STATE_RUNNING))
		return "running";
	return edo_state_has(state, EDO_STATE_NOTIFIED) ? "ready" : "waiting";
}

static void add_fiber(struct report *report, const struct edo_fiber *fiber)
{
	edo_instant deadline = fiber->limit.deadline;
	struct edo_driver *driver = &report->runtime->driver;

	if (fiber->limit.is_shielded)
		add(report, ", shielded");
	if (deadline != EDO_FOREVER && driver->has_time)
		add_duration(report, ", deadline in ",
			     edo_instant_since(deadline, edo_time_now(&driver->time)));
	if (fiber->member.group)
		add(report, ", in group %p", (void *)fiber->member.group);
	add_code(report, ", runs ", (void *)(uintptr_t)fiber->fn);
}

static void add_task(struct edo_task *task, void *context)
{
	struct report *report = context;
	edo_future *core = edo_task_core(task);
	/* Relaxed: nobody else polls it meanwhile, and whoever did handed the core on. */
	uint64_t state = edo_load(&task->state, relaxed);

	if (edo_state_has(state, EDO_STATE_COMPLETE))
		return;
	add(report, "edo: task %p: %s: %s", (void *)task, core->ops->name ? core->ops->name : "?",
	    standing(state));
	if (!edo_state_has(state, EDO_STATE_RUNNING))
		add_wait(report, core);
	if (edo_state_has(state, EDO_STATE_CANCELLED))
		add(report, ", cancelled");
	if (edo_task_runs_to_end(task))
		add_fiber(report, edo_container_of(core, struct edo_fiber, future));
	add(report, "\n");
	flush(report);
}

static int write_report(struct edo_runtime *runtime, int fd)
{
	struct edo_owned_tasks *owned = &runtime->scheduler.scheduler.owned;
	struct report report = { .runtime = runtime, .fd = fd };

	add(&report, "edo: runtime \"%s\": %zu tasks\n", runtime->thread_name,
	    edo_owned_count(owned));
	flush(&report);
	edo_owned_visit(owned, add_task, &report);
	return report.rc;
}

/* ---- asking for one ---- */

/* An errand's number is the descriptor and one more, so that it is not 0. */
static void write_when_asked(struct edo_current_thread *rt, uint32_t errand)
{
	(void)write_report(edo_container_of(rt, struct edo_runtime, scheduler), (int)(errand - 1));
}

void edo_dump_request(edo_runtime *runtime, int fd)
{
	if (runtime && fd >= 0)
		edo_errand_ask(&runtime->scheduler, write_when_asked, (uint32_t)fd + 1);
}

int edo_dump(edo_runtime *runtime, int fd)
{
	enum edo_errand_place place;
	int rc = 0;

	runtime = edo_runtime_or_current(runtime);
	if (!runtime)
		return -EINVAL;
	if (fd < 0)
		return -EBADF;
	place = edo_errand_begin(&runtime->scheduler);
	if (place == EDO_ERRAND_ELSEWHERE)
		edo_dump_request(runtime, fd);
	else
		rc = write_report(runtime, fd);
	edo_errand_end(&runtime->scheduler, place);
	return rc;
}
