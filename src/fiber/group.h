/* Inside the fiber room: what a fiber knows of groups, as a member of one and as the owner of others. */
#ifndef EDO_FIBER_GROUP_H
#define EDO_FIBER_GROUP_H

#include <edo/detail/list_node.h>
#include <edo/group.h>

struct edo_fiber;

/* A child's place in its group; group NULL: it is in none, or has left. */
struct edo_group_member {
	edo_list_node node; /* under the group's lock */
	struct edo_group *group;
	void (*drop)(void *arg);
};

/* A child has ended, and given back all that it was lent; again is harmless. */
void edo_group_leave(struct edo_group_member *member, int result);

/* On its stack, when its function has returned: cancels and waits for the groups that it left behind. */
void edo_groups_close(struct edo_fiber *owner);
/* It was given up: its groups have no owner any more. */
void edo_groups_abandon(struct edo_fiber *owner);

#endif
