/*
 * A bounded channel, a group of tasks, and waiting for whichever comes first.
 */
#include <edo/edo.h>
#include <stdio.h>

struct job {
	int id;
};

static int worker(void *arg)
{
	edo_mpsc_tx *jobs = *(edo_mpsc_tx **)arg;
	int rc = 0;

	for (int id = 0; id < 1000 && rc == 0; id++)
		rc = edo_mpsc_send(jobs,
				   &(struct job){
					   id }); /* waits while full; -EPIPE: receiver gone */
	edo_mpsc_tx_release(jobs);                /* the last sender's release closes the channel */
	return rc;
}

static int hire(edo_group *crew, edo_mpsc_tx *tx)
{
	for (int i = 0; i < 4; i++) {
		edo_mpsc_tx *mine = edo_mpsc_tx_retain(tx);
		int rc = edo_group_go(crew, worker, &mine, sizeof mine);

		if (rc < 0) {
			edo_mpsc_tx_release(mine); /* the spawn failed: still ours */
			return rc;
		}
	}
	return 0;
}

/* Until the channel is closed and empty, or we are cancelled. */
static unsigned long receive_all(edo_mpsc_rx *rx, edo_interval *report)
{
	unsigned long done = 0;

	for (;;) {
		struct job job;
		edo_mpsc_recv_future recv;
		edo_interval_future tick;
		edo_future *either[] = {
			edo_mpsc_recv_start(&recv, rx, &job),
			edo_interval_tick_start(&tick, report),
		};
		int which = edo_select(either,
				       2); /* fair; the loser's wait is dropped, nothing is lost */

		if (which == 1 && tick.result == 0)
			printf("%lu jobs so far\n", done);
		else if (which == 0 && recv.result == 0)
			done++;
		else
			return done;
	}
}

static int dispatch(void *arg)
{
	edo_mpsc_tx *tx;
	edo_mpsc_rx *rx;
	edo_group *crew;
	edo_interval report;
	int rc, first_error = 0;

	(void)arg;
	if ((rc = edo_mpsc_create(&tx, &rx, sizeof(struct job), 64)) < 0)
		return rc;
	if ((rc = edo_group_create(&crew)) <
	    0) { /* no task outlives its group, no group its fiber */
		edo_mpsc_tx_release(tx);
		edo_mpsc_rx_release(rx);
		return rc;
	}
	rc = hire(crew, tx);
	edo_mpsc_tx_release(tx);
	if (rc == 0 &&
	    (rc = edo_interval_init(&report, edo_now(), EDO_SEC(1), EDO_MISSED_SKIP)) == 0) {
		printf("%lu jobs done\n", receive_all(rx, &report));
		edo_interval_drop(&report);
	}
	edo_mpsc_rx_release(rx);
	if (rc < 0)
		edo_group_cancel(crew);
	rc = edo_group_wait(crew, &first_error); /* the first error cancels the rest */
	return rc < 0 ? rc : first_error;
}

int main(void)
{
	int rc = edo_run(dispatch, NULL);

	if (rc < 0)
		fprintf(stderr, "channels: %s\n", edo_strerror(rc));
	return rc < 0;
}
