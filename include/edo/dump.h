/**
 * @file
 * What is everybody waiting for? A line for each task of a runtime, to find out why a program hangs.
 *
 *     static edo_runtime *runtime;
 *
 *     static void on_quit(int signal)
 *     {
 *             (void)signal;
 *             edo_dump_request(runtime, STDERR_FILENO);
 *     }
 *
 *     signal(SIGQUIT, on_quit);       // Ctrl-\ then prints what hangs
 *
 * A line names the kind of the task (a fiber with its function, a stackless task with the name of its struct), how
 * it stands, what it waits for, and for fibers their deadline. The text is for people; its form may change.
 * Backtraces of fibers are a debugger's: see tools/gdb/edo.py.
 */
#ifndef EDO_DUMP_H
#define EDO_DUMP_H

#include <edo/task.h>

EDO_BEGIN_DECLS

/**
 * Writes a line to @p fd for each task of @p runtime (NULL: this thread's) that has not ended.
 *
 * At once, if this thread runs the runtime's tasks (it is called in one of them), or nobody does. While another
 * thread runs them it does so between two tasks: then this returns before anything is written.
 *
 * @return 0; -EINVAL: no runtime; or why writing failed (-EBADF, -EPIPE, -EAGAIN …), if it was written here
 *
 * Threads: any. Writing may block the thread that does it.
 */
EDO_API int edo_dump(edo_runtime *runtime, int fd);

/**
 * Asks for a dump; may be called in a signal handler. The thread that runs the tasks writes it, soon: when it sleeps it is
 * woken for that. Not while a task computes without ever waiting; and not before the runtime is driven again, if nobody does.
 * Of several requests at once only the last may be met.
 *
 * @p runtime must not have been destroyed; NULL is ignored.
 */
EDO_API void edo_dump_request(edo_runtime *runtime, int fd);

EDO_END_DECLS

#endif
