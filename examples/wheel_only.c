/*
 * The timer wheel alone, inside somebody else's loop. No runtime, no clock, no lock, no allocation:
 * <edo/wheel.h> and src/wheel/ suffice.
 */
#include <assert.h>
#include <edo/wheel.h>
#include <stddef.h>
#include <stdio.h>

struct conn {
	int fd;
	edo_wheel_timer idle; /* lives in the object that it times */
};

static void on_request(edo_wheel *wheel, struct conn *c, uint64_t now_ms,
		       void (*kill)(struct conn *))
{
	/* O(1), wherever it was. -ETIME: the wheel is already past that tick. */
	if (edo_wheel_reset(wheel, &c->idle, now_ms + 30000) < 0)
		kill(c);
}

static int ms_until_next(const edo_wheel *wheel, uint64_t now_ms)
{
	uint64_t at;

	if (!edo_wheel_next(wheel, &at))
		return -1;
	uint64_t left = at > now_ms ? at - now_ms : 0;
	return left > 60000 ? 60000 : (int)left;
}

static void expire(edo_wheel *wheel, uint64_t now_ms, void (*kill)(struct conn *))
{
	edo_wheel_timer *t;

	while ((t = edo_wheel_poll(wheel, now_ms)) != NULL) /* in tick order */
		kill(edo_container_of(t, struct conn, idle));
}

/* Somebody else's loop, its clock turned by hand: two connections, one of which goes on talking. */

static uint64_t now_ms = 1000;
static int killed[4];
static int kills;

static void kill_conn(struct conn *c)
{
	printf("%6llu ms: connection %d was idle\n", (unsigned long long)now_ms, c->fd);
	killed[kills++] = c->fd;
}

int main(void)
{
	struct conn quiet = { .fd = 3 }, busy = { .fd = 4 };
	edo_wheel wheel;

	edo_wheel_init(&wheel, now_ms);
	assert(ms_until_next(&wheel, now_ms) == -1);
	on_request(&wheel, &quiet, now_ms, kill_conn);
	on_request(&wheel, &busy, now_ms, kill_conn);

	for (int i = 0; i < 4; i++) {
		now_ms += 9000;
		expire(&wheel, now_ms, kill_conn);
		on_request(&wheel, &busy, now_ms, kill_conn);
	}
	assert(kills == 1 && killed[0] == quiet.fd);

	/*
	 * The busy one falls silent; the loop sleeps as long as the wheel says, never past a tick.
	 */
	uint64_t silent_since = now_ms;
	for (int left; (left = ms_until_next(&wheel, now_ms)) >= 0;) {
		now_ms += (uint64_t)left;
		expire(&wheel, now_ms, kill_conn);
	}
	assert(kills == 2 && killed[1] == busy.fd);
	assert(now_ms == silent_since + 30000);
	return 0;
}
