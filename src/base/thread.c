/* The byte whose address names the thread. */
#include "base/thread.h"

EDO_THREAD_LOCAL char edo_thread_anchor;
