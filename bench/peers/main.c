/* A peer: the wheel's workloads over the adapter of its folder, for edo's timers as well. */
#include "adapter.h"
#include "wheel/workloads.h"

int main(int argc, char **argv)
{
	static const struct workload *const tables[] = { wheel_workloads, peer_timer_workloads,
							 NULL };

	return bench_main(argc, argv, ADAPTER_NAME, tables);
}
