/*
 * An intrusive list: a ring of nodes closed by a head that is a node too, so that nothing has to
 * ask whether it is the first or the last. Header-only: the wheel compiles with this and bits.h
 * alone.
 *
 * A head is set up by edo_list_init() and never moves while nodes are on it. A node is in at most
 * one list; its `next` is NULL exactly while it is in none (all zeros will do). Whoever owns the
 * list locks.
 */
#ifndef EDO_BASE_LIST_H
#define EDO_BASE_LIST_H

#include <edo/detail/list_node.h>
#include <stdbool.h>

/* Any node may be removed in the body, the current one with the _safe form only. */
#define edo_list_for_each(node, head)                                                              \
	for (edo_list_node *node = (head)->next; node != (head); node = node->next)
#define edo_list_for_each_safe(node, following, head)                                              \
	for (edo_list_node *node = (head)->next, *following = node->next; node != (head);          \
	     node = following, following = node->next)

static inline void edo_list_init(edo_list_node *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool edo_list_is_empty(const edo_list_node *head)
{
	return head->next == head;
}

static inline bool edo_list_is_linked(const edo_list_node *node)
{
	return node->next != NULL;
}

static inline void edo_list_insert_between(edo_list_node *node, edo_list_node *prev,
					   edo_list_node *next)
{
	node->prev = prev;
	prev->next = node;
	node->next = next;
	next->prev = node;
}

static inline void edo_list_push_back(edo_list_node *head, edo_list_node *node)
{
	edo_list_insert_between(node, head->prev, head);
}

static inline void edo_list_push_front(edo_list_node *head, edo_list_node *node)
{
	edo_list_insert_between(node, head, head->next);
}

/* The node is linked. */
static inline void edo_list_remove(edo_list_node *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	node->next = NULL;
}

/* The first node, or NULL; it stays. */
static inline edo_list_node *edo_list_front(const edo_list_node *head)
{
	return head->next != head ? head->next : NULL;
}

/* The first node, taken out, or NULL. */
static inline edo_list_node *edo_list_pop_front(edo_list_node *head)
{
	edo_list_node *node = edo_list_front(head);

	if (node)
		edo_list_remove(node);
	return node;
}

/* Moves all of `from` behind what is in `to`; `from` is empty afterwards. */
static inline void edo_list_splice_back(edo_list_node *to, edo_list_node *from)
{
	if (edo_list_is_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	edo_list_init(from);
}

#endif
