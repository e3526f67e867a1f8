/**
 * @file
 * The link of an intrusive list, so that public structs can hold one. What works on it is private.
 */
#ifndef EDO_DETAIL_LIST_NODE_H
#define EDO_DETAIL_LIST_NODE_H

#include <edo/detail/base.h>

/** Private. In no list: both NULL, or @p next alone. */
typedef struct edo_list_node {
	struct edo_list_node *next;
	struct edo_list_node *prev;
} edo_list_node;

#endif
