/* A driver, tasks and the holder's hand for models of the I/O driver. */
#include "explore/rig_io.h"
#include <stdlib.h>
#include <string.h>

/* ---- the driver ---- */

static void *allocate(void *context, size_t size, size_t alignment)
{
	void *memory = NULL;

	(void)context;
	return posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment,
			      size) == 0 ?
		       memory :
		       NULL;
}

static void release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

const edo_allocator rig_io_allocator = { .allocate = allocate, .release = release };

void rig_io_begin(struct edo_io_driver *io)
{
	explore_check(edo_io_init(io, 1, FAKE_DESCRIPTORS + 1, &rig_io_allocator) == 0);
}

void rig_io_end(struct edo_io_driver *io)
{
	edo_io_destroy(io);
}

struct rig_registered rig_io_register(struct edo_io_driver *io, int fd, uint32_t readiness)
{
	struct rig_registered registered = { .io = io };

	explore_check(edo_io_register(io, fd, readiness, &registered.registration) == 0);
	registered.sio =
		edo_io_find(io, registered.registration.index, registered.registration.generation);
	explore_check(registered.sio && registered.sio->fd == fd);
	return registered;
}

int rig_io_deregister(const struct rig_registered *registered)
{
	return edo_io_deregister(registered->io, registered->registration.index,
				 registered->registration.generation);
}

void rig_io_event(struct edo_scheduled_io *sio, uint32_t readiness)
{
	struct edo_io_batch batch;

	batch.count = 0;
	edo_readiness_set(sio, readiness, &batch);
	edo_io_batch_flush(&batch);
}

/* ---- tasks ---- */

static const edo_waker_ops task_ops;

static edo_waker clone_of(void *data)
{
	(void)edo_fetch_add(&((struct rig_task *)data)->clones, 1, relaxed);
	return (edo_waker){ data, &task_ops };
}

static void drop(void *data)
{
	explore_check(edo_fetch_sub(&((struct rig_task *)data)->clones, 1, relaxed) > 0);
}

static void wake_by_ref(void *data)
{
	struct rig_task *task = data;

	(void)edo_fetch_add(&task->wakes, 1, relaxed);
	(void)edo_sys_futex_wake(&task->wakes, 1);
}

static void wake(void *data)
{
	wake_by_ref(data);
	drop(data);
}

static const edo_waker_ops task_ops = { clone_of, wake, wake_by_ref, drop };

edo_waker rig_io_waker(struct rig_task *task)
{
	return (edo_waker){ task, &task_ops };
}

edo_poll rig_io_poll(struct rig_io_wait *wait)
{
	edo_waker waker = rig_io_waker(wait->task);
	edo_context cx = { .waker = &waker };

	return edo_io_poll_ready(wait->sio, wait->generation, wait->direction, &wait->is_claimed,
				 &cx, &wait->ready);
}

edo_poll rig_io_await(struct rig_io_wait *wait)
{
	for (;;) {
		uint32_t wakes = edo_fetch_add(&wait->task->wakes, 0, relaxed);
		edo_poll polled = rig_io_poll(wait);

		if (polled != EDO_PENDING)
			return polled;
		(void)edo_sys_futex_wait(&wait->task->wakes, wakes, UINT64_MAX);
	}
}

void rig_io_clear(const struct rig_io_wait *wait)
{
	edo_io_clear(wait->sio, wait->direction, wait->ready);
}

void rig_io_unclaim(struct rig_io_wait *wait)
{
	edo_io_unclaim(wait->sio, wait->generation, wait->direction, &wait->is_claimed);
}
