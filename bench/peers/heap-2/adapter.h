/* The heap with 2 children a node. */
#define ADAPTER_NAME "heap-2"
#define HEAP_ARITY 2
#include "../heap.h"
