#include "system.h"
#include "base/sys.h"
#include "mix.h"
#include "tally.h"
#include <errno.h>

static uint32_t refuse_one;
static uint64_t asked;
static int64_t mapped;

int __real_edo_sys_stack_map(size_t size, void **base);
int __wrap_edo_sys_stack_map(size_t size, void **base);
void __real_edo_sys_stack_unmap(void *base, size_t size);
void __wrap_edo_sys_stack_unmap(void *base, size_t size);
int __real_edo_sys_epoll_ctl(int epoll, int operation, int fd, uint32_t events, uint64_t token);
int __wrap_edo_sys_epoll_ctl(int epoll, int operation, int fd, uint32_t events, uint64_t token);

static bool is_refused(enum soak_deed deed)
{
	uint32_t one_of = __atomic_load_n(&refuse_one, __ATOMIC_RELAXED);
	struct soak_mix mix = soak_mix_of(__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED), 0);

	if (one_of == 0 || !soak_one_in(&mix, one_of))
		return false;
	soak_count(deed);
	return true;
}

int __wrap_edo_sys_stack_map(size_t size, void **base)
{
	int rc = is_refused(SOAK_stacks_refused) ? -ENOMEM : __real_edo_sys_stack_map(size, base);

	if (rc == 0)
		__atomic_fetch_add(&mapped, 1, __ATOMIC_RELAXED);
	return rc;
}

void __wrap_edo_sys_stack_unmap(void *base, size_t size)
{
	__real_edo_sys_stack_unmap(base, size);
	__atomic_fetch_sub(&mapped, 1, __ATOMIC_RELAXED);
}

int __wrap_edo_sys_epoll_ctl(int epoll, int operation, int fd, uint32_t events, uint64_t token)
{
	if (operation == EPOLL_CTL_ADD && is_refused(SOAK_registrations_refused))
		return -ENOSPC;
	return __real_edo_sys_epoll_ctl(epoll, operation, fd, events, token);
}

void soak_system_refuse(uint32_t one_of)
{
	__atomic_store_n(&refuse_one, one_of, __ATOMIC_RELAXED);
}

int64_t soak_stacks_mapped(void)
{
	return __atomic_load_n(&mapped, __ATOMIC_RELAXED);
}
