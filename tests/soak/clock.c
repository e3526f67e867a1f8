#include "clock.h"
#include "base/sys.h"

/* Far from zero, so that a step back never goes below it. */
static int64_t offset = INT64_C(1) << 50;
static uint64_t latest;
static bool may_run_back;

uint64_t __real_edo_sys_clock_now(enum edo_sys_clock clock);
uint64_t __wrap_edo_sys_clock_now(enum edo_sys_clock clock);

static void remember(uint64_t shown)
{
	uint64_t before = __atomic_load_n(&latest, __ATOMIC_RELAXED);

	while (before < shown && !__atomic_compare_exchange_n(&latest, &before, shown, true,
							      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

/* Remembered before it is shown: who acts on it finds it in soak_clock_latest(). */
uint64_t __wrap_edo_sys_clock_now(enum edo_sys_clock clock)
{
	uint64_t shown = __real_edo_sys_clock_now(clock) +
			 (uint64_t)__atomic_load_n(&offset, __ATOMIC_RELAXED);

	remember(shown);
	return shown;
}

void soak_clock_step(int64_t ns)
{
	if (ns > 0 || may_run_back)
		__atomic_fetch_add(&offset, ns, __ATOMIC_RELAXED);
}

uint64_t soak_clock_latest(void)
{
	return __atomic_load_n(&latest, __ATOMIC_RELAXED);
}

void soak_clock_choose(bool may)
{
	may_run_back = may;
}

bool soak_clock_may_run_back(void)
{
	return may_run_back;
}
