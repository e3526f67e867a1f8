/* Inside the task room: where cells come from and go to. The pool itself is in task.h. */
#ifndef EDO_TASK_CELL_H
#define EDO_TASK_CELL_H

#include "task.h"

/* Uninitialised memory for a header and size bytes behind it; size_class is set. NULL: no memory. */
struct edo_task *edo_cell_allocate(struct edo_cell_pool *pool, size_t core_size);
/* The last reference is gone. May free the pool itself, when that is closed. */
void edo_cell_free(struct edo_cell_pool *pool, struct edo_task *task);

#endif
