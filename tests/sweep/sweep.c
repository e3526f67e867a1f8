/* The sweep itself: which failure comes next, one life with it, and what must hold afterwards. */
#include "sweep.h"
#include "allocator.h"
#include "fate.h"
#include "small.h"
#include "support/allocations.h"
#include "support/resources.h"
#include <stdio.h>
#include <stdlib.h>

/* No scenario has so many: a sweep that gets there does not end. */
enum { MOST_STEPS = 5000 };

/* ---- telling ---- */

int sweep_tell(struct sweep_life *life, int rc)
{
	unsigned place;

	if (rc >= 0)
		return rc;
	place = __atomic_fetch_add(&life->told_count, 1, __ATOMIC_RELAXED);
	if (place < SWEEP_TOLD_MAX)
		__atomic_store_n(&life->told[place], rc, __ATOMIC_RELAXED);
	return rc;
}

int sweep_tell_unless(struct sweep_life *life, int rc, int meant)
{
	return rc == meant ? rc : sweep_tell(life, rc);
}

static unsigned told_count(const struct sweep_life *life)
{
	unsigned count = __atomic_load_n(&life->told_count, __ATOMIC_RELAXED);

	return count < SWEEP_TOLD_MAX ? count : SWEEP_TOLD_MAX;
}

static int told(const struct sweep_life *life, unsigned i)
{
	return __atomic_load_n(&life->told[i], __ATOMIC_RELAXED);
}

/* ---- the failure of this life ---- */

static struct {
	const char *scenario;
	uint64_t number;
	bool is_memory; /* an allocation; else a system call */
	bool has_struck;
} fault;

static bool has_struck(void)
{
	return edo_sys_fault_happened() || sweep_allocator_has_failed() ||
	       edo_test_allocations_failed();
}

static void disarm(void)
{
	fault.has_struck |= has_struck();
	edo_sys_fault_clear();
	sweep_allocator_fail(UINT64_MAX);
	edo_test_allocations_fail(EDO_TEST_NEVER);
}

static int error_of_fault(void)
{
	return fault.is_memory ? ENOMEM : edo_sys_fault_injected().error;
}

static bool is_meant(const struct sweep_scenario *scenario, int error)
{
	return error == -scenario->meant[0] || error == -scenario->meant[1];
}

/* A connection that could not be admitted for want of memory is closed, and its peer feels it. */
static enum sweep_fate fate_of_fault(const struct sweep_scenario *scenario)
{
	enum sweep_fate fate = SWEEP_TOLD_OR_FELT;

	if (!fault.is_memory)
		fate = sweep_fate_of(edo_sys_fault_injected());
	if (fate == SWEEP_TOLD && is_meant(scenario, error_of_fault()))
		fate = SWEEP_ANY;
	return fate;
}

/* ---- checks ---- */

static void say_fault(void)
{
	struct edo_sys_injected call = edo_sys_fault_injected();

	if (!fault.has_struck)
		print_error("sweep %s: without a failure (number %llu)", fault.scenario,
			    (unsigned long long)fault.number);
	else if (fault.is_memory)
		print_error("sweep %s: allocation %llu failed", fault.scenario,
			    (unsigned long long)fault.number);
	else
		print_error("sweep %s: call %llu, %s(%d), %s %s", fault.scenario,
			    (unsigned long long)fault.number, edo_sys_call_name(call.call),
			    call.detail, call.by_value ? "found SO_ERROR" : "said",
			    strerror(call.error));
}

static void say_told(const struct sweep_life *life)
{
	for (unsigned i = 0; life && i < told_count(life); i++)
		print_error("; told %s", edo_strerror(told(life, i)));
}

static void check(bool holds, const char *what, const struct sweep_life *life)
{
	if (holds)
		return;
	say_fault();
	say_told(life);
	print_error("\n");
	fail_msg("%s", what);
}

static bool was_told(const struct sweep_life *life, int rc)
{
	for (unsigned i = 0; i < told_count(life); i++)
		if (told(life, i) == rc)
			return true;
	return false;
}

static void check_nothing_else_was_told(const struct sweep_life *life, int error)
{
	for (unsigned i = 0; i < told_count(life); i++)
		check(told(life, i) == -error || sweep_is_felt(told(life, i)),
		      "something else was told than what had failed", life);
}

static void check_fate(const struct sweep_life *life)
{
	int error = error_of_fault();
	enum sweep_fate fate = fault.has_struck ? fate_of_fault(life->scenario) : SWEEP_SURVIVED;

	if (fate == SWEEP_SURVIVED)
		check(told_count(life) == 0, "this should have been survived", life);
	if (fate == SWEEP_TOLD)
		check(was_told(life, -error), "nobody was told of the failure", life);
	if (fate == SWEEP_TOLD_OR_FELT)
		check(told_count(life) > 0, "nobody noticed the failure", life);
	check_nothing_else_was_told(life, error);
}

static struct {
	struct edo_test_resources resources;
	uint64_t allocations_made;
	size_t allocations_live;
	int64_t allocator_live;
	int64_t stacks;
} before;

static void remember(void)
{
	edo_test_resources_take(&before.resources);
	before.allocations_made = edo_test_allocations_made();
	before.allocations_live = edo_test_allocations_live();
	before.allocator_live = sweep_allocator_live();
	before.stacks = edo_sys_stacks_mapped();
}

static void check_nothing_is_left(const struct sweep_life *life)
{
	check(edo_test_resources_compare(&before.resources) == 0, "descriptors or threads are left",
	      life);
	check(edo_sys_stacks_mapped() == before.stacks, "a stack is left mapped", life);
	check(sweep_allocator_live() == before.allocator_live,
	      "the configuration's allocator has not got everything back", life);
	check(sweep_allocator_misfits() == 0, "memory was given back with another size", life);
	if (edo_test_allocations_live() != before.allocations_live)
		check(edo_test_allocations_compare(before.allocations_made) == 0,
		      "allocations are left", life);
}

/* ---- one life ---- */

static edo_config config_of(const struct sweep_scenario *scenario, const edo_allocator *allocator)
{
	edo_config config = scenario->config;

	config.size = sizeof config;
	config.allocator = allocator;
	return config;
}

/* What is left of the failure may still strike while the runtime ends. */
static void live(struct sweep_life *life, const edo_allocator *allocator)
{
	edo_config config = config_of(life->scenario, allocator);

	if (sweep_tell(life, edo_runtime_create(&life->runtime, &config)) < 0)
		return;
	life->scenario->live(life);
	if (has_struck()) {
		disarm();
		check(sweep_small(life->runtime, &config) == 0,
		      "the runtime is not usable any more", life);
	}
	check(edo_runtime_destroy(life->runtime) == life->kept, "the runtime did not end well",
	      life);
	if (life->scenario->after)
		life->scenario->after(life);
}

static void check_a_new_one_lives(const struct sweep_life *life, const edo_allocator *allocator)
{
	edo_config config = config_of(life->scenario, allocator);
	edo_runtime *runtime;

	check(edo_runtime_create(&runtime, &config) == 0, "no runtime can be made any more", life);
	check(sweep_small(runtime, &config) == 0, "a new runtime does not work", life);
	check(edo_runtime_destroy(runtime) == 0, "a new runtime did not end well", life);
}

/* The failure has been ordered. Returns whether it came about. */
static bool live_once(const struct sweep_scenario *scenario, const edo_allocator *allocator)
{
	struct sweep_life life = { .scenario = scenario };

	remember();
	live(&life, allocator);
	disarm();
	check_fate(&life);
	check_nothing_is_left(&life);
	if (fault.has_struck)
		check_a_new_one_lives(&life, allocator);
	return fault.has_struck;
}

/* ---- the sweeps ---- */

static void next_fault(const struct sweep_scenario *scenario, uint64_t number, bool is_memory)
{
	fault.scenario = scenario->name;
	fault.number = number;
	fault.is_memory = is_memory;
	fault.has_struck = false;
}

static bool live_with_call_failing(const struct sweep_scenario *scenario, uint64_t n, unsigned k)
{
	next_fault(scenario, n, false);
	edo_sys_fault_sweep_listed(n, k);
	return live_once(scenario, &sweep_allocator);
}

static bool is_full(void)
{
	const char *wanted = getenv("EDO_SWEEP");

	return edo_test_slowdown() == 1 || (wanted && strcmp(wanted, "full") == 0);
}

/*
 * The other errors of call number n, of which there are count in all. Where threads race or the network is
 * late, number n may be another call this time, or none.
 */
static uint64_t sweep_other_errors(const struct sweep_scenario *scenario, uint64_t n,
				   unsigned count)
{
	unsigned first = 1;
	unsigned last = count - 1;
	uint64_t faults = 0;

	if (!is_full() && count > 2)
		first = last = 1 + (unsigned)(n % (count - 1));
	for (unsigned k = first; k <= last; k++)
		faults += live_with_call_failing(scenario, n, k);
	return faults;
}

static uint64_t sweep_calls(const struct sweep_scenario *scenario, uint64_t *calls)
{
	uint64_t faults = 0;

	for (*calls = 0; live_with_call_failing(scenario, *calls, 0); ++*calls) {
		unsigned count = edo_sys_fault_injected().count;

		assert_true(*calls < MOST_STEPS);
		faults += 1 + sweep_other_errors(scenario, *calls, count);
	}
	return faults;
}

static uint64_t sweep_configured_allocator(const struct sweep_scenario *scenario)
{
	uint64_t n = 0;

	for (;; n++) {
		assert_true(n < MOST_STEPS);
		next_fault(scenario, n, true);
		sweep_allocator_fail(n);
		if (!live_once(scenario, &sweep_allocator))
			return n;
	}
}

static uint64_t sweep_malloc(const struct sweep_scenario *scenario)
{
	uint64_t n = 0;

	for (;; n++) {
		assert_true(n < MOST_STEPS);
		next_fault(scenario, n, true);
		edo_test_allocations_fail(n);
		if (!live_once(scenario, NULL))
			return n;
	}
}

void sweep(const struct sweep_scenario *scenario)
{
	uint64_t calls;
	uint64_t call_faults = sweep_calls(scenario, &calls);
	uint64_t configured = sweep_configured_allocator(scenario);
	uint64_t usual = sweep_malloc(scenario);

	print_message("sweep %s: %llu system-call faults (%llu calls), %llu allocation faults, "
		      "%llu malloc faults\n",
		      scenario->name, (unsigned long long)call_faults, (unsigned long long)calls,
		      (unsigned long long)configured, (unsigned long long)usual);
	assert_true(calls > 0 && call_faults > calls);
	assert_true(configured > 0 && usual > 0);
}
