/* The heap with 4 children a node. */
#define ADAPTER_NAME "heap-4"
#define HEAP_ARITY 4
#include "../heap.h"
