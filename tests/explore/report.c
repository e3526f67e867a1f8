/*
 * What is printed: the failing schedule, step by step, when the run that failed is made once more.
 */
#include "explore/engine.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

const char *report_short_name(const char *file)
{
	const char *name = file;

	for (const char *at = file; *at; at++)
		if (strncmp(at, "src/", 4) == 0 || strncmp(at, "tests/", 6) == 0)
			name = at;
	return name;
}

/* A schedule may have thousands of steps: the first ones are printed, and the last, kept until it ends. */
enum { FIRST = 50, LAST = 200, LINE = 300 };

struct trace {
	char last[LAST][LINE];
	unsigned count; /* of all */
};

static struct trace *trace;

void report_begin(void)
{
	if (!trace)
		trace = explore_pages(sizeof *trace);
	trace->count = 0;
}

static void keep(const struct explore_site *site, const char *text)
{
	char *line = trace->last[trace->count % LAST];
	size_t used;

	used = (size_t)snprintf(line, LINE, "  %*s%u: %s %s", (int)engine->self->number * 2, "",
				engine->self->number, site ? site->text : "", text);
	if (site && used < LINE)
		(void)snprintf(line + used, LINE - used, "   [%s:%d]",
			       report_short_name(site->file), site->line);
	if (trace->count++ < FIRST)
		puts(line);
}

void report_end(void)
{
	unsigned next = trace->count > FIRST + LAST ? trace->count - LAST : FIRST;

	if (next > FIRST)
		printf("  ... %u left out ...\n", next - FIRST);
	for (; next < trace->count; next++)
		puts(trace->last[next % LAST]);
}

void report_trace(const struct explore_site *site, const char *format, ...)
{
	va_list arguments;
	char text[200];

	if (!engine->is_tracing || engine->is_alone)
		return;
	va_start(arguments, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, one line above. */
	(void)vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	keep(site, text);
}

/* Asked of the tool that reads debug information, once, when a run has failed. */
void report_caller(const void *caller, char *text, size_t size)
{
	char command[300];
	Dl_info info;
	FILE *answer;

	(void)snprintf(text, size, "%p", caller);
	if (!caller || !dladdr(caller, &info))
		return;
	(void)snprintf(command, sizeof command, "addr2line -fspe /proc/%d/exe %#lx 2>/dev/null",
		       (int)getpid(),
		       (unsigned long)((const char *)caller - 1 - (char *)info.dli_fbase));
	answer = popen(command, "r");
	if (!answer)
		return;
	if (fgets(text, (int)size, answer))
		text[strcspn(text, "\n")] = '\0';
	(void)pclose(answer);
}
