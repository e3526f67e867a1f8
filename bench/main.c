/* edo-bench: each subject's table of workloads. */
#include "harness.h"
#include "sync/workloads.h"
#include "tasks/workloads.h"
#include "timer/workloads.h"
#include "wheel/workloads.h"

int main(int argc, char **argv)
{
	static const struct workload *const tables[] = { wheel_workloads, timer_workloads,
							 tasks_workloads, sync_workloads, NULL };

	return bench_main(argc, argv, "edo", tables);
}
