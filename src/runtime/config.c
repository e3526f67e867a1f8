/* Configurations: what is sound, and what zero means. */
#include "runtime.h"
#include <string.h>

enum {
	NS_PER_US = 1000,
	NS_PER_MS = 1000000,
	NS_PER_SEC = 1000000000,
	SMALLEST_STACK = 16 * 1024,
};

static const uint64_t longest_tick = NS_PER_SEC;
static const size_t largest_stack = (size_t)1 << 30;
static const uint64_t default_shutdown_timeout = UINT64_C(10) * NS_PER_SEC;

static bool is_in(uint64_t value, uint64_t least, uint64_t most)
{
	return value == 0 || (value >= least && value <= most);
}

/* The first size that ever was; a later field missing from an older program's struct is 0. */
static const size_t smallest_size = offsetof(edo_config, allocator) + sizeof(const edo_allocator *);

const char *edo_config_bad_field(const edo_config *config)
{
	const edo_allocator *allocator;

	if (!config)
		return NULL;
	if (config->size < smallest_size || config->size > sizeof(edo_config))
		return "size";
	if ((unsigned)config->flavor > EDO_MULTI_THREAD)
		return "flavor";
	if ((unsigned)config->clock > EDO_CLOCK_BOOTTIME)
		return "clock";
	if (config->start_paused && (config->disable_time || config->flavor == EDO_MULTI_THREAD))
		return "start_paused";
	if (!is_in(config->timer_resolution, NS_PER_US, longest_tick))
		return "timer_resolution";
	if (!is_in(config->events_per_turn, 1, 1 << 20))
		return "events_per_turn";
	if (!is_in(config->stack_size, SMALLEST_STACK, largest_stack))
		return "stack_size";
	allocator = config->allocator;
	if (allocator && (!allocator->allocate || !allocator->release))
		return "allocator";
	return NULL;
}

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
	return value ? value : otherwise;
}

void edo_config_resolve(edo_config *config, const edo_config *given)
{
	*config = (edo_config)EDO_CONFIG_INIT;
	if (given)
		memcpy(config, given, given->size);
	config->timer_resolution = or_default(config->timer_resolution, NS_PER_MS);
	config->seed = or_default(config->seed, edo_sys_entropy());
	config->event_interval = (uint32_t)or_default(config->event_interval, 61);
	config->global_queue_interval = (uint32_t)or_default(config->global_queue_interval, 31);
	config->events_per_turn = (uint32_t)or_default(config->events_per_turn, 1024);
	config->stack_size = or_default(config->stack_size, 64 * 1024);
	config->stack_cache = (uint32_t)or_default(config->stack_cache, 1024);
	config->shutdown_timeout = or_default(config->shutdown_timeout, default_shutdown_timeout);
}
