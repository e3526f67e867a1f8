/* Actors that are about time: timers that are moved and dropped, periods, limits, a clock that is turned. */
#include "world.h"

/* ---- timers ---- */

enum { JUGGLED = 8 };

/* Mostly soon, at times beyond any clock. */
static edo_instant some_deadline(struct soak_mix *mix)
{
	return edo_instant_add(edo_now(),
			       soak_length(mix, soak_one_in(mix, 4) ? EDO_FOREVER : EDO_MS(4)));
}

static void see_fired(struct soak_actor *self, edo_timer *ball)
{
	soak_expect_come(self->world, edo_timer_deadline(ball), "a timer");
	soak_expect(edo_timer_has_fired(ball), "a timer that is ready has not fired");
	soak_count(SOAK_timers_fired);
}

/* Leaves it armed. */
static int look_at(struct soak_actor *self, edo_timer *ball)
{
	struct soak_peek peek;
	int rc = edo_await(soak_peek_start(&peek, &ball->future));

	soak_expect_wait(self->world, rc, "a timer");
	if (rc == 0)
		see_fired(self, ball);
	return rc;
}

/* To the end, if that is near. */
static int wait_for(struct soak_actor *self, edo_timer *ball)
{
	struct soak_give_up give_up;
	edo_future *future = &ball->future;
	int rc;

	if (edo_instant_since(edo_timer_deadline(ball), edo_now()) > EDO_MS(4))
		future = soak_give_up_start(&give_up, 1 + soak_below(&self->mix, 6), future);
	rc = edo_await(future);
	soak_expect_wait(self->world, rc, "a timer");
	if (rc == 0)
		see_fired(self, ball);
	return rc;
}

static int move(struct soak_actor *self, edo_timer *ball)
{
	int rc = edo_timer_reset(ball, some_deadline(&self->mix));

	soak_expect(rc == 0, "a reset said %s", edo_strerror(rc));
	soak_count(SOAK_timer_resets);
	return 0;
}

static int drop(edo_timer *ball)
{
	edo_timer_drop(ball);
	soak_count(SOAK_timer_drops);
	return 0;
}

static int juggle(struct soak_actor *self, edo_timer *ball)
{
	switch (soak_below(&self->mix, 8)) {
	case 0:
		return wait_for(self, ball);
	case 1:
	case 2:
		return look_at(self, ball);
	case 3:
	case 4:
	case 5:
		return move(self, ball);
	case 6:
		return drop(ball);
	default:
		return soak_rest(self->world, &self->mix);
	}
}

int soak_juggler(struct soak_actor *self)
{
	edo_timer balls[JUGGLED];
	int rc = 0;

	for (int i = 0; i < JUGGLED; i++)
		edo_timer_init(&balls[i], some_deadline(&self->mix));
	for (uint32_t left = soak_below(&self->mix, 80); left > 0 && rc != -ECANCELED; left--) {
		rc = juggle(self, &balls[soak_below(&self->mix, JUGGLED)]);
		if (rc == -EOPNOTSUPP || soak_is_draining(self->world))
			break;
	}
	/* One that has fired may be left to itself. */
	for (int i = 0; i < JUGGLED; i++)
		if (!edo_timer_has_fired(&balls[i]) || soak_one_in(&self->mix, 2))
			(void)drop(&balls[i]);
	return rc == -ECANCELED ? rc : 0;
}

int soak_napper(struct soak_actor *self)
{
	int rc = 0;

	for (uint32_t left = soak_below(&self->mix, 10); left > 0; left--) {
		rc = soak_rest(self->world, &self->mix);
		if (rc < 0)
			break;
	}
	return rc == -ECANCELED ? rc : 0;
}

/* ---- periods ---- */

static int tick(struct soak_actor *self, edo_interval *interval, edo_instant *last)
{
	struct soak_give_up give_up;
	edo_interval_future wait;
	edo_future *future = edo_interval_tick_start(&wait, interval);
	int rc;

	if (soak_one_in(&self->mix, 3))
		future = soak_give_up_start(&give_up, 1 + soak_below(&self->mix, 4), future);
	rc = edo_await(future);
	soak_expect_wait(self->world, rc, "a tick");
	if (rc < 0)
		return rc;
	soak_expect_come(self->world, wait.at, "a tick");
	soak_expect(wait.at >= *last, "a tick was planned before the one before it");
	*last = wait.at;
	soak_count(SOAK_ticks);
	return 0;
}

static void move_grid(struct soak_actor *self, edo_interval *interval, edo_instant *last)
{
	int rc = soak_one_in(&self->mix, 2) ?
			 edo_interval_reset(interval) :
			 edo_interval_reset_at(interval,
					       edo_instant_add(edo_now(),
							       soak_length(&self->mix, EDO_MS(2))));

	soak_expect(rc == 0, "an interval's reset said %s", edo_strerror(rc));
	*last = 0;
	soak_count(SOAK_timer_resets);
}

int soak_metronome(struct soak_actor *self)
{
	edo_interval interval;
	edo_instant last = 0;
	int rc = edo_interval_init(&interval,
				   edo_instant_add(edo_now(), soak_length(&self->mix, EDO_MS(3))),
				   1 + soak_length(&self->mix, EDO_MS(2)),
				   (edo_missed)soak_below(&self->mix, 3));

	soak_expect(rc == 0, "an interval said %s", edo_strerror(rc));
	for (uint32_t left = soak_below(&self->mix, 20); left > 0; left--) {
		rc = tick(self, &interval, &last);
		if (rc == -ECANCELED || rc == -EOPNOTSUPP || soak_is_draining(self->world))
			break;
		if (soak_one_in(&self->mix, 6))
			move_grid(self, &interval, &last);
	}
	edo_interval_drop(&interval);
	return rc == -ECANCELED ? rc : 0;
}

/* ---- limits ---- */

/* A gate that nobody opens, unless it is passed through before. */
int soak_limiter(struct soak_actor *self)
{
	int rc = 0;

	for (uint32_t left = soak_below(&self->mix, 8); left > 0 && rc != -ECANCELED; left--) {
		struct soak_gate gate = { .is_open = soak_one_in(&self->mix, 4) };
		struct soak_gate_future wait;
		edo_duration limit = soak_length(&self->mix, EDO_MS(2));
		edo_instant begun = edo_now();

		rc = edo_timeout(limit, soak_gate_start(&wait, &gate));
		if (rc == -ETIMEDOUT) {
			soak_expect(!gate.is_open, "an open gate was passed too late");
			soak_expect_passed(self->world, begun, limit, "a time-out");
			soak_count(SOAK_timeouts);
		} else {
			soak_expect_wait(self->world, rc, "a time-out");
		}
	}
	return rc == -ECANCELED ? rc : 0;
}

/* ---- a clock that stands ---- */

static int turn(struct soak_actor *self)
{
	edo_instant before = edo_now();
	edo_duration by = soak_length(&self->mix, EDO_MS(20));
	int rc = edo_advance(by);

	soak_expect(rc == 0 || rc == -ECANCELED || rc == -EINVAL, "an advance said %s",
		    edo_strerror(rc));
	soak_expect(rc != 0 || edo_now() >= before + by, "the clock has not moved as told");
	soak_count(SOAK_clock_advances);
	return rc;
}

static int let_run(struct soak_actor *self)
{
	int rc = edo_resume();
	int rested;

	soak_expect(rc == 0 || rc == -EINVAL, "resuming said %s", edo_strerror(rc));
	rested = soak_rest(self->world, &self->mix);
	rc = edo_pause();
	soak_expect(rc == 0 || rc == -EINVAL, "pausing said %s", edo_strerror(rc));
	soak_count(SOAK_clock_pauses);
	return rested;
}

int soak_turner(struct soak_actor *self)
{
	int rc = 0;

	for (uint32_t left = soak_below(&self->mix, 8); left > 0 && rc != -ECANCELED; left--)
		rc = soak_one_in(&self->mix, 3) ? let_run(self) : turn(self);
	return rc == -ECANCELED ? rc : 0;
}
