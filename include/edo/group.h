/**
 * @file
 * Groups: fibers that belong together, and that none of them outlives.
 *
 * A fiber makes a group, spawns children in it, and waits for all of them at once; the first that fails cancels
 * the others. A group belongs to the fiber that made it. What that fiber's function leaves behind, groups not yet waited
 * for, is cancelled and waited for before the fiber ends; so no child outlives the fiber that spawned it, and
 * children may be lent what is on the owner's stack, if the wait stands in the same function.
 *
 *     edo_group *both;
 *
 *     if ((rc = edo_group_create(&both)) == 0) {
 *             edo_group_go(both, pump, &up, sizeof up);
 *             edo_group_go(both, pump, &down, sizeof down);
 *             rc = edo_group_wait(both, &first_error);
 *     }
 *
 * A function that lends its own variables to children waits for them on every way out, an early return too:
 * EDO_GROUP_SCOPE() does that. After the function has returned it is too late: its variables are gone.
 *
 * Groups nest. Children do not inherit the owner's deadline: when it passes, the owner's wait is cut, and that
 * cancels them.
 *
 * The idea follows Trio's nurseries (N. J. Smith, "Notes on structured concurrency", 2018).
 */
#ifndef EDO_GROUP_H
#define EDO_GROUP_H

#include <edo/fiber.h>

EDO_BEGIN_DECLS

/** A group of fibers. Allocated by edo_group_create(), freed when it has been waited for. */
typedef struct edo_group edo_group;

/**
 * Makes a group that belongs to this fiber.
 *
 * @return 0; -EINVAL: not in a fiber; -EDEADLK: inside a poll function; -ENOMEM
 */
EDO_API EDO_NODISCARD int edo_group_create(edo_group **group);

/**
 * Spawns a fiber in @p group, on the owner's runtime. @p arg and @p size as in edo_go().
 *
 * @return as edo_go(); -ECANCELED: the group has been cancelled; -EINVAL: no group. On failure the argument is still
 *         the caller's. A failure other than -ECANCELED is the group's first error too, as if the child had
 *         ended with it: so the result can be left unlooked at where @p arg owns nothing
 *
 * Threads: the owner and the group's children.
 */
EDO_API int edo_group_go(edo_group *group, edo_fiber_fn *fn, const void *arg, size_t size);

/**
 * As edo_group_go(), but @p arg belongs to the group from this call on, whatever it returns: @p drop is called once
 * with what @p fn got (or, when the spawn failed, with @p arg itself, before this returns), after
 * @p fn has returned and before the group's wait ends; also when the fiber was given up at a shutdown.
 *
 * @p drop must not wait: what waits says -EDEADLK in it.
 */
EDO_API int edo_group_go_owned(edo_group *group, edo_fiber_fn *fn, const void *arg, size_t size,
			       void (*drop)(void *arg));

/** From here on a child's failure does not cancel the others. Threads: the owner and the children. */
EDO_API void edo_group_set_keep_going(edo_group *group);

/**
 * Cancels all children, and those still to come: every wait in them fails with -ECANCELED until they return. Does not wait.
 * Threads: the owner and the children. NULL is ignored.
 */
EDO_API void edo_group_cancel(edo_group *group);

/** @return how many children have not ended yet. Threads: the owner and the children. */
EDO_API size_t edo_group_live(edo_group *group);

/**
 * Waits until all children have ended, and frees the group. Their stacks and arguments have been given back then.
 *
 * @param first_error  receives the first negative result of a child, or 0; may be NULL. Results of children that ended
 *                     after the group was cancelled do not count
 * @return 0; -ECANCELED, -ETIMEDOUT: this wait was cut: then the children were cancelled, and have been waited for all the same;
 *         -EINVAL: no group; -EDEADLK: not the owner, or inside a poll function: then nothing was done
 *
 * Threads: the owner.
 */
EDO_API int edo_group_wait(edo_group *group, int *first_error);

#if defined(__GNUC__) && !defined(__cplusplus)
/** For EDO_GROUP_SCOPE(): what is made from now on is in the scope. */
EDO_API uint64_t edo_group_mark_(void);
/** For EDO_GROUP_SCOPE(): cancels and waits for it. */
EDO_API void edo_group_close_(const uint64_t *mark);
#define EDO_GROUP_NAME_2_(line) edo_groups_of_line_##line
#define EDO_GROUP_NAME_(line) EDO_GROUP_NAME_2_(line)

/**
 * Where a declaration may stand: on whichever way the enclosing block is left, the groups that this fiber has made since and
 * not waited for are cancelled and waited for. gcc and clang, C only.
 */
#define EDO_GROUP_SCOPE()                                                                          \
	const uint64_t EDO_GROUP_NAME_(__LINE__)                                                   \
		__attribute__((cleanup(edo_group_close_), unused)) = edo_group_mark_()
#endif

EDO_END_DECLS

#endif
