/* Inside the task room: the waker that points at a task. */
#ifndef EDO_TASK_WAKER_H
#define EDO_TASK_WAKER_H

#include "task.h"

/* For the length of a poll: it counts as no reference and must not be dropped or consumed. */
edo_waker edo_task_waker_borrowed(struct edo_task *task);

#endif
