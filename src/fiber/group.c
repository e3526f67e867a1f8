/*
 * Groups (group.h in the face): a fiber's children, counted, so that none outlives it.
 *
 * A group is freed by its last reference: the owner has one, each child one. A child that leaves touches nothing
 * of the group after it has given its reference up, since the owner may have gone by then, woken by a
 * sibling or given up at a shutdown.
 *
 * T2. Children are aborted, the owner woken and arguments dropped with no lock held. Under the lock are: who is in
 * it, how it stands, and the owner's waker.
 * K5. The owner's wait, once cut, cancels the children and goes on uncut.
 */
#include "base/list.h"
#include "private.h"
#include <errno.h>

enum { TOLD_AT_ONCE = 32 };

struct edo_group {
	/* constant, but for the owner's own list */
	struct edo_runtime *runtime;
	struct edo_fiber *owner;
	struct edo_group *next;
	uint64_t number; /* among the owner's; later ones have larger */
	uint32_t references;
	struct edo_lock lock;
	/* under the lock */
	edo_list_node children;  /* that do not know yet of a cancellation */
	edo_list_node cancelled; /* that do */
	size_t live;             /* in either list, or about to be */
	edo_waker waiter;        /* the owner's, while it waits */
	int first_error;
	bool keep_going;
	bool is_cancelled;
};

static void lock(struct edo_group *group)
{
	edo_lock_acquire(&group->lock, EDO_RANK_GROUP);
}

static void unlock(struct edo_group *group)
{
	edo_lock_release(&group->lock, EDO_RANK_GROUP);
}

static void drop_reference(struct edo_group *group)
{
	const edo_allocator *allocator = &group->runtime->allocator;

	/* Release: what this one did to it. Acquire: what all others did, before it is freed. */
	if (edo_fetch_sub(&group->references, 1, acq_rel) == 1)
		allocator->release(allocator->context, group, sizeof *group);
}

/* ---- cancelling ---- */

static struct edo_task *task_of(edo_list_node *node)
{
	struct edo_group_member *member = edo_container_of(node, struct edo_group_member, node);

	return edo_task_of_core(&edo_container_of(member, struct edo_fiber, member)->future);
}

/* Some children that do not know yet, with a reference each. A child in a list has not ended (K3). */
static unsigned take_untold(struct edo_group *group, struct edo_task *tasks[TOLD_AT_ONCE])
{
	edo_list_node *node;
	unsigned n = 0;

	lock(group);
	group->is_cancelled = true;
	while (n < TOLD_AT_ONCE && (node = edo_list_pop_front(&group->children)) != NULL) {
		edo_list_push_back(&group->cancelled, node);
		tasks[n] = task_of(node);
		edo_state_add_reference(&tasks[n++]->state);
	}
	unlock(group);
	return n;
}

void edo_group_cancel(edo_group *group)
{
	struct edo_task *tasks[TOLD_AT_ONCE];
	unsigned n;

	if (!group)
		return;
	do {
		n = take_untold(group, tasks);
		for (unsigned i = 0; i < n; i++) {
			edo_task_abort(tasks[i]);
			edo_task_drop_reference(tasks[i]);
		}
	} while (n == TOLD_AT_ONCE);
}

/* The first error counts, and only before the group was cancelled: after that all fail for that reason. */
static void fail(struct edo_group *group, int result)
{
	bool cancels = false;

	lock(group);
	if (!group->is_cancelled && group->first_error == 0) {
		group->first_error = result;
		cancels = !group->keep_going;
		/* With the error: none that this brings about may count. */
		group->is_cancelled = cancels;
	}
	unlock(group);
	if (cancels)
		edo_group_cancel(group);
}

/* ---- children ---- */

/* Counts a child that is about to be spawned; then the group stays. 0, -ECANCELED. */
static int reserve(struct edo_group *group)
{
	int rc = 0;

	lock(group);
	if (group->is_cancelled) {
		rc = -ECANCELED;
	} else {
		group->live++;
		/* Relaxed: the caller has a reference, or the owner's is there (drop_reference). */
		edo_fetch_add(&group->references, 1, relaxed);
	}
	unlock(group);
	return rc;
}

/* Returns the owner's waker if it waits and this was the last. */
static edo_waker uncount(struct edo_group *group, struct edo_group_member *member)
{
	edo_waker waiter = { 0 };

	lock(group);
	if (member && edo_list_is_linked(&member->node))
		edo_list_remove(&member->node);
	if (--group->live == 0) {
		waiter = group->waiter;
		group->waiter = (edo_waker){ 0 };
	}
	unlock(group);
	return waiter;
}

static void leave(struct edo_group *group, struct edo_group_member *member, int result)
{
	edo_waker waiter;

	if (result < 0)
		fail(group, result);
	waiter = uncount(group, member);
	drop_reference(group);
	edo_waker_wake(&waiter);
}

void edo_group_leave(struct edo_group_member *member, int result)
{
	struct edo_group *group = member->group;

	if (!group)
		return;
	member->group = NULL;
	leave(group, member, result);
}

/* A new child that nobody runs yet. If the group was cancelled meanwhile it begins cancelled (K4). */
static void join(struct edo_group *group, struct edo_task *task)
{
	struct edo_fiber *fiber = edo_container_of(edo_task_core(task), struct edo_fiber, future);
	bool is_cancelled;

	lock(group);
	is_cancelled = group->is_cancelled;
	edo_list_push_back(is_cancelled ? &group->cancelled : &group->children,
			   &fiber->member.node);
	unlock(group);
	if (is_cancelled)
		edo_task_abort(task);
}

static int spawn_in(struct edo_group *group, const struct edo_fiber_spawn *spawn)
{
	struct edo_task *task;
	int rc = edo_fiber_create(group->runtime, spawn, &task);

	if (rc < 0) {
		leave(group, NULL, rc);
		return rc;
	}
	join(group, task);
	edo_runtime_submit(group->runtime, task, NULL);
	return 0;
}

static int go(edo_group *group, const struct edo_fiber_spawn *spawn)
{
	int rc = group ? reserve(group) : -EINVAL;

	return rc < 0 ? rc : spawn_in(group, spawn);
}

int edo_group_go(edo_group *group, edo_fiber_fn *fn, const void *arg, size_t size)
{
	return go(group, &(struct edo_fiber_spawn){ fn, arg, size, group, NULL });
}

/* On the caller's stack, yet it may no more wait than where it is dropped otherwise. */
static void drop_unspawned(void (*drop)(void *arg), const void *arg)
{
	struct edo_fiber *fiber = edo_fiber_current();
	bool was_polling = fiber && fiber->is_polling;

	if (fiber)
		fiber->is_polling = true;
	drop((void *)(uintptr_t)arg);
	if (fiber)
		fiber->is_polling = was_polling;
}

int edo_group_go_owned(edo_group *group, edo_fiber_fn *fn, const void *arg, size_t size,
		       void (*drop)(void *arg))
{
	int rc = go(group, &(struct edo_fiber_spawn){ fn, arg, size, group, drop });

	if (rc < 0 && drop)
		drop_unspawned(drop, arg);
	return rc;
}

void edo_group_set_keep_going(edo_group *group)
{
	lock(group);
	group->keep_going = true;
	unlock(group);
}

size_t edo_group_live(edo_group *group)
{
	size_t live;

	lock(group);
	live = group->live;
	unlock(group);
	return live;
}

/* ---- the owner's wait ---- */

struct group_wait {
	edo_future future;
	struct edo_group *group;
};

/* What it replaces or leaves is dropped outside of the lock. */
static edo_poll group_wait_poll(edo_future *future, edo_context *cx)
{
	struct edo_group *group = edo_container_of(future, struct group_wait, future)->group;
	edo_waker waker = edo_waker_clone(cx->waker);
	bool is_over;

	lock(group);
	is_over = group->live == 0;
	if (!is_over) {
		edo_waker old = group->waiter;

		group->waiter = waker;
		waker = old;
	}
	unlock(group);
	edo_waker_drop(&waker);
	return is_over ? EDO_READY : EDO_PENDING;
}

static void group_wait_drop(edo_future *future)
{
	struct edo_group *group = edo_container_of(future, struct group_wait, future)->group;
	edo_waker waker;

	lock(group);
	waker = group->waiter;
	group->waiter = (edo_waker){ 0 };
	unlock(group);
	edo_waker_drop(&waker);
}

EDO_FUTURE_OPS(group_wait_ops, struct group_wait, future, group_wait_poll, group_wait_drop);

static struct edo_group **place_of(struct edo_group *group)
{
	struct edo_group **place = &group->owner->groups;

	while (*place != group)
		place = &(*place)->next;
	return place;
}

static void release(struct edo_group *group)
{
	*place_of(group) = group->next;
	drop_reference(group);
}

static void cancel_and_wait(struct edo_group *group)
{
	struct group_wait wait = { { &group_wait_ops }, group };

	edo_group_cancel(group);
	edo_await_uncut(group->owner, &wait.future);
}

int edo_group_wait(edo_group *group, int *first_error)
{
	struct edo_fiber *fiber = edo_fiber_current();
	struct group_wait wait = { { &group_wait_ops }, group };
	int rc;

	if (!group)
		return -EINVAL;
	if (fiber != group->owner || fiber->is_polling) {
		edo_misuse("only the fiber that made a group waits for it");
		return -EDEADLK;
	}
	rc = edo_await(&wait.future);
	if (rc < 0)
		cancel_and_wait(group);
	if (first_error)
		*first_error = group->first_error;
	release(group);
	return rc;
}

/* ---- the owner's groups ---- */

int edo_group_create(edo_group **created)
{
	struct edo_fiber *fiber = edo_fiber_current();
	struct edo_runtime *runtime = edo_current_runtime();
	struct edo_group *group;

	if (!fiber || fiber->is_polling) {
		edo_misuse("a group belongs to the fiber that makes it");
		return fiber ? -EDEADLK : -EINVAL;
	}
	group = runtime->allocator.allocate(runtime->allocator.context, sizeof *group,
					    _Alignof(struct edo_group));
	if (!group)
		return -ENOMEM;
	*group = (struct edo_group){ .runtime = runtime,
				     .owner = fiber,
				     .next = fiber->groups,
				     .number = ++fiber->groups_made,
				     .references = 1 };
	edo_list_init(&group->children);
	edo_list_init(&group->cancelled);
	fiber->groups = group;
	*created = group;
	return 0;
}

static void close_since(struct edo_fiber *owner, uint64_t mark)
{
	while (owner->groups && owner->groups->number > mark) {
		struct edo_group *group = owner->groups;

		cancel_and_wait(group);
		release(group);
	}
}

void edo_groups_close(struct edo_fiber *owner)
{
	close_since(owner, 0);
}

uint64_t edo_group_mark_(void)
{
	struct edo_fiber *fiber = edo_fiber_current();

	return fiber ? fiber->groups_made : 0;
}

void edo_group_close_(const uint64_t *mark)
{
	struct edo_fiber *fiber = edo_fiber_current();

	if (fiber && !fiber->is_polling)
		close_since(fiber, *mark);
}

void edo_groups_abandon(struct edo_fiber *owner)
{
	while (owner->groups)
		release(owner->groups);
}
