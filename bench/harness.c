/* See harness.h. One thread; one struct bench a workload run. */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FIGURES = 8, MOST_PARAMETERS = 16, MOST_REPETITIONS = 100, MOST_ARGUMENTS = 64 };

struct argument {
	const char *text;
	const char *value; /* within text, behind '=' */
	bool was_asked_for;
};

struct arguments {
	struct argument all[MOST_ARGUMENTS];
	size_t count;
};

struct figure {
	const char *name;
	double values[MOST_REPETITIONS];
	size_t count;
};

struct parameter {
	const char *key;
	const char *word; /* or NULL: the number */
	uint64_t number;
};

struct note {
	const char *key;
	double value;
};

struct bench {
	struct arguments *arguments;
	uint64_t random;
	uint64_t ops;
	size_t repetitions; /* counted ones wanted */
	size_t begun;       /* the warm-up included */
	struct figure figures[MOST_FIGURES];
	size_t figure_count;
	struct parameter parameters[MOST_PARAMETERS];
	size_t parameter_count;
	struct note notes[MOST_FIGURES];
	size_t note_count;
};

_Noreturn void bench_die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized) */
	va_end(arguments);
	fputc('\n', stderr);
	exit(2);
}

void *bench_allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		bench_die("no memory for %zu times %zu bytes", count, size);
	return memory;
}

uint64_t bench_clock(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* splitmix64 */
uint64_t bench_random(struct bench *bench)
{
	uint64_t mixed = bench->random += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ (mixed >> 31);
}

uint64_t bench_random_between(struct bench *bench, uint64_t low, uint64_t high)
{
	return low + bench_random(bench) % (high - low + 1);
}

static const char *find_argument(struct bench *bench, const char *key)
{
	size_t length = strlen(key);

	for (size_t i = 0; i < bench->arguments->count; i++) {
		struct argument *argument = &bench->arguments->all[i];

		if (strncmp(argument->text, key, length) == 0 && argument->text[length] == '=') {
			argument->was_asked_for = true;
			return argument->value;
		}
	}
	return NULL;
}

/* A parameter shows up once in the line, however often it was asked for. */
static struct parameter *add_parameter(struct bench *bench, const char *key)
{
	for (size_t i = 0; i < bench->parameter_count; i++)
		if (strcmp(bench->parameters[i].key, key) == 0)
			return &bench->parameters[i];
	if (bench->parameter_count == MOST_PARAMETERS)
		bench_die("too many parameters at %s", key);

	struct parameter *parameter = &bench->parameters[bench->parameter_count++];
	*parameter = (struct parameter){ .key = key };
	return parameter;
}

static uint64_t parse_number(const char *key, const char *value)
{
	char *end;
	double number = strtod(value, &end);

	if (*value == '\0' || *end != '\0' || !(number >= 0 && number < 1e18))
		bench_die("%s=%s is not a number", key, value);
	return (uint64_t)number;
}

uint64_t bench_number(struct bench *bench, const char *key, uint64_t otherwise)
{
	const char *value = find_argument(bench, key);
	struct parameter *parameter = add_parameter(bench, key);

	parameter->number = value ? parse_number(key, value) : otherwise;
	return parameter->number;
}

const char *bench_word(struct bench *bench, const char *key, const char *const *choices)
{
	const char *value = find_argument(bench, key);
	struct parameter *parameter = add_parameter(bench, key);

	parameter->word = choices[0];
	if (!value)
		return parameter->word;
	for (; *choices; choices++) {
		parameter->word = *choices;
		if (strcmp(*choices, value) == 0)
			return parameter->word;
	}
	bench_die("%s=%s is not known", key, value);
}

bool bench_repeats(struct bench *bench)
{
	return bench->begun++ <= bench->repetitions;
}

void bench_record(struct bench *bench, const char *name, double value)
{
	size_t i = 0;

	if (bench->begun == 1)
		return;
	while (i < bench->figure_count && strcmp(bench->figures[i].name, name) != 0)
		i++;
	if (i == MOST_FIGURES)
		bench_die("too many figures at %s", name);
	if (i == bench->figure_count)
		bench->figures[bench->figure_count++] = (struct figure){ .name = name };

	struct figure *figure = &bench->figures[i];
	if (figure->count < MOST_REPETITIONS)
		figure->values[figure->count++] = value;
}

void bench_record_per_op(struct bench *bench, const char *figure, uint64_t start, uint64_t ops)
{
	uint64_t taken = bench_clock() - start;

	if (bench->ops == 0)
		bench->ops = ops;
	bench_record(bench, figure, (double)taken / (double)(ops ? ops : 1));
}

void bench_note(struct bench *bench, const char *key, double value)
{
	if (bench->note_count == MOST_FIGURES)
		bench_die("too many notes at %s", key);
	bench->notes[bench->note_count++] = (struct note){ key, value };
}

static int compare_values(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median_of_sorted(const double *values, size_t count)
{
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void print_figure(struct figure *figure)
{
	qsort(figure->values, figure->count, sizeof(double), compare_values);
	printf(",\"%s\":{\"min\":%.3f,\"median\":%.3f,\"max\":%.3f}", figure->name,
	       figure->values[0], median_of_sorted(figure->values, figure->count),
	       figure->values[figure->count - 1]);
}

static void print_parameters(const struct bench *bench)
{
	for (size_t i = 0; i < bench->parameter_count; i++) {
		const struct parameter *parameter = &bench->parameters[i];

		printf("%s\"%s\":", i ? "," : "", parameter->key);
		if (parameter->word)
			printf("\"%s\"", parameter->word);
		else
			printf("%llu", (unsigned long long)parameter->number);
	}
}

static void print_line(struct bench *bench, const char *impl, const char *workload)
{
	printf("{\"impl\":\"%s\",\"workload\":\"%s\",\"params\":{", impl, workload);
	print_parameters(bench);
	printf("}");
	if (bench->ops)
		printf(",\"ops\":%llu", (unsigned long long)bench->ops);
	for (size_t i = 0; i < bench->figure_count; i++)
		print_figure(&bench->figures[i]);
	for (size_t i = 0; i < bench->note_count; i++)
		printf(",\"%s\":%.10g", bench->notes[i].key, bench->notes[i].value);
	printf("}\n");
	fflush(stdout);
}

static void run_workload(const struct workload *workload, const char *impl,
			 struct arguments *arguments)
{
	struct bench *bench = bench_allocate(1, sizeof(*bench));
	const char *repetitions;

	bench->arguments = arguments;
	bench->random = 1;
	repetitions = find_argument(bench, "repetitions");
	bench->repetitions = repetitions ? (size_t)parse_number("repetitions", repetitions) : 5;
	if (bench->repetitions < 1 || bench->repetitions > MOST_REPETITIONS)
		bench_die("repetitions: 1 to %d", MOST_REPETITIONS);
	workload->run(bench);
	print_line(bench, impl, workload->name);
	free(bench);
}

static const struct workload *find_workload(const struct workload *const *tables, const char *name)
{
	for (; *tables; tables++)
		for (const struct workload *workload = *tables; workload->name; workload++)
			if (strcmp(workload->name, name) == 0)
				return workload;
	bench_die("there is no workload %s; `list` names them", name);
}

static int list_workloads(const struct workload *const *tables)
{
	for (; *tables; tables++)
		for (const struct workload *workload = *tables; workload->name; workload++)
			printf("%-24s %s\n", workload->name, workload->help);
	return 0;
}

static void collect_arguments(struct arguments *arguments, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *equals = strchr(argv[i], '=');

		if (!equals)
			continue;
		if (arguments->count == MOST_ARGUMENTS)
			bench_die("too many parameters");
		arguments->all[arguments->count++] =
			(struct argument){ argv[i], equals + 1, false };
	}
}

int bench_main(int argc, char **argv, const char *impl, const struct workload *const *tables)
{
	static struct arguments arguments;

	if (argc < 2 || strcmp(argv[1], "list") == 0)
		return list_workloads(tables);
	collect_arguments(&arguments, argc, argv);
	for (int i = 1; i < argc; i++)
		if (!strchr(argv[i], '='))
			run_workload(find_workload(tables, argv[i]), impl, &arguments);
	for (size_t i = 0; i < arguments.count; i++)
		if (!arguments.all[i].was_asked_for)
			bench_die("no workload knows the parameter %s", arguments.all[i].text);
	return 0;
}
