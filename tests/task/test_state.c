/* The state word (K2): every transition from every combination of flags that can be. */
#include "support/runner.h"
#include "task/state.h"
#include <pthread.h>

enum {
	R = EDO_STATE_RUNNING,
	C = EDO_STATE_COMPLETE,
	N = EDO_STATE_NOTIFIED,
	J = EDO_STATE_JOIN_INTEREST,
	W = EDO_STATE_JOIN_WAKER,
	X = EDO_STATE_CANCELLED,
	REF = EDO_STATE_REFERENCE,
	ALL_FLAGS = REF - 1,
};

static bool can_be(uint64_t flags)
{
	return !((flags & R) && (flags & C));
}

/* Calls visit for each combination of flags that can be, with 1, 2 and 3 references. */
static void for_each_word(void (*visit)(uint64_t before))
{
	for (uint64_t flags = 0; flags <= ALL_FLAGS; flags++)
		if (can_be(flags)) {
			visit(flags + REF);
			visit(flags + 2 * REF);
			visit(flags + 3 * REF);
		}
}

static void visit_start(uint64_t before)
{
	uint64_t word = before;
	bool is_last = before < 2 * REF;

	if (!(before & N))
		return;
	if (before & (R | C)) {
		if (is_last && (before & R))
			return; /* whoever polls has a reference too */
		assert_int_equal(edo_state_start_poll(&word),
				 is_last ? EDO_START_FREE : EDO_START_NOTHING);
		assert_int_equal(word, before - REF);
	} else {
		assert_int_equal(edo_state_start_poll(&word),
				 before & X ? EDO_START_CANCELLED : EDO_START_POLL);
		assert_int_equal(word, (before | R) & ~(uint64_t)N);
	}
}

static void start_poll_takes_an_idle_task_and_drops_a_needless_notification(void **state)
{
	(void)state;
	for_each_word(visit_start);
}

static void visit_end(uint64_t before, bool runs_to_end)
{
	uint64_t word = before;
	enum edo_end_poll action;

	if (!(before & R))
		return;
	action = edo_state_end_poll(&word, runs_to_end);
	if ((before & X) && !runs_to_end) {
		assert_int_equal(action, EDO_END_CANCELLED);
		assert_int_equal(word, before);
	} else if (before & N) {
		assert_int_equal(action, EDO_END_NOTIFIED);
		assert_int_equal(word, before & ~(uint64_t)R);
	} else {
		assert_int_equal(action, before < 2 * REF ? EDO_END_FREE : EDO_END_IDLE);
		assert_int_equal(word, (before & ~(uint64_t)R) - REF);
	}
}

static void visit_end_of_both(uint64_t before)
{
	visit_end(before, false);
	visit_end(before, true);
}

static void end_poll_hands_on_what_was_notified_and_ends_what_was_cancelled(void **state)
{
	(void)state;
	for_each_word(visit_end_of_both);
}

static void visit_complete(uint64_t before)
{
	uint64_t word = before;

	if (!(before & R))
		return;
	assert_int_equal(edo_state_complete(&word), before);
	assert_int_equal(word, (before & ~(uint64_t)R) | C);
}

static void complete_turns_running_into_complete_and_nothing_else(void **state)
{
	(void)state;
	for_each_word(visit_complete);
}

static void visit_wake(uint64_t before)
{
	uint64_t word = before;
	enum edo_wake_action action;

	if ((before & R) && before < 2 * REF)
		return; /* whoever polls has one, and the waker is another */
	action = edo_state_wake(&word);
	if (before & R) {
		assert_int_equal(action, EDO_WAKE_NOTHING);
		assert_int_equal(word, (before | N) - REF);
	} else if (before & (C | N)) {
		assert_int_equal(action, before < 2 * REF ? EDO_WAKE_FREE : EDO_WAKE_NOTHING);
		assert_int_equal(word, before - REF);
	} else {
		assert_int_equal(action, EDO_WAKE_SUBMIT);
		assert_int_equal(word, before | N);
	}
}

static void a_wake_uses_its_reference_up_or_makes_it_the_queues(void **state)
{
	(void)state;
	for_each_word(visit_wake);
}

static void visit_wake_by_ref(uint64_t before)
{
	uint64_t word = before;
	enum edo_wake_action action = edo_state_wake_by_ref(&word);

	if (before & (C | N)) {
		assert_int_equal(action, EDO_WAKE_NOTHING);
		assert_int_equal(word, before);
	} else if (before & R) {
		assert_int_equal(action, EDO_WAKE_NOTHING);
		assert_int_equal(word, before | N);
	} else {
		assert_int_equal(action, EDO_WAKE_SUBMIT);
		assert_int_equal(word, (before | N) + REF);
	}
}

static void a_wake_by_reference_adds_one_only_for_the_queue(void **state)
{
	(void)state;
	for_each_word(visit_wake_by_ref);
}

static void visit_cancel(uint64_t before)
{
	uint64_t word = before;
	enum edo_wake_action action = edo_state_cancel(&word);

	if (before & (C | X)) {
		assert_int_equal(action, EDO_WAKE_NOTHING);
		assert_int_equal(word, before);
	} else if (before & (R | N)) {
		assert_int_equal(action, EDO_WAKE_NOTHING);
		assert_int_equal(word, before | X | N);
	} else {
		assert_int_equal(action, EDO_WAKE_SUBMIT);
		assert_int_equal(word, (before | X | N) + REF);
	}
}

static void cancel_marks_once_and_sees_to_it_that_somebody_looks(void **state)
{
	(void)state;
	for_each_word(visit_cancel);
}

static void visit_shut_down(uint64_t before)
{
	uint64_t word = before;
	bool is_ours = edo_state_shut_down(&word);

	assert_int_equal(is_ours, !(before & (R | C)));
	assert_int_equal(word, before | X | (is_ours ? R : 0));
}

static void shut_down_takes_what_is_idle_and_marks_the_rest(void **state)
{
	(void)state;
	for_each_word(visit_shut_down);
}

static void visit_join_waker(uint64_t before)
{
	uint64_t word = before;

	if ((before & J) && !(before & W)) {
		assert_int_equal(edo_state_set_join_waker(&word), !(before & C));
		assert_int_equal(word, before & C ? before : before | W);
	}
	word = before;
	if ((before & J) && ((before & W) || (before & C))) {
		assert_int_equal(edo_state_unset_join_waker(&word), !(before & C));
		assert_int_equal(word, before & C ? before : before & ~(uint64_t)W);
	}
	word = before;
	if ((before & C) && (before & W)) {
		assert_int_equal(edo_state_release_join_waker(&word), before & ~(uint64_t)W);
		assert_int_equal(word, before & ~(uint64_t)W);
	}
}

static void the_join_waker_changes_hands_only_before_completion(void **state)
{
	(void)state;
	for_each_word(visit_join_waker);
}

static void visit_drop_join_interest(uint64_t before)
{
	uint64_t word = before;
	bool completer_has_it = (before & C) && (before & W);

	if (!(before & J))
		return;
	assert_int_equal(edo_state_drop_join_interest(&word), !completer_has_it);
	assert_int_equal(word, before & ~(uint64_t)J & ~(uint64_t)(completer_has_it ? 0 : W));
}

static void the_handle_goes_with_the_waker_unless_the_completer_has_it(void **state)
{
	(void)state;
	for_each_word(visit_drop_join_interest);
}

static void visit_references(uint64_t before)
{
	uint64_t word = before;

	edo_state_add_reference(&word);
	assert_int_equal(word, before + REF);
	assert_false(edo_state_drop_reference(&word));
	assert_int_equal(word, before);
	assert_int_equal(edo_state_drop_references(&word, before / REF), true);
	assert_int_equal(word, before & ALL_FLAGS);
}

static void references_do_not_touch_the_flags(void **state)
{
	(void)state;
	for_each_word(visit_references);
}

static void visit_questions(uint64_t before)
{
	assert_int_equal(edo_state_is_complete(&before), !!(before & C));
	assert_int_equal(edo_state_is_cancelled(&before), !!(before & X));
}

static void the_questions_read_their_flags(void **state)
{
	(void)state;
	for_each_word(visit_questions);
}

static void a_new_task_has_three_references_and_is_notified(void **state)
{
	(void)state;
	assert_int_equal(EDO_STATE_INITIAL, 3 * REF + (N | J));
}

/* p60: what was written before a wake is seen by the poll, although the task was notified already. */
enum { ROUNDS = 20000 };

static struct {
	uint64_t word;
	unsigned data; /* plain: ordered by the word alone */
	unsigned published;
} shared;

static void *writer(void *arg)
{
	(void)arg;
	for (unsigned i = 1; i <= ROUNDS; i++) {
		while (__atomic_load_n(&shared.published, __ATOMIC_ACQUIRE) != i - 1)
			;
		shared.data = i;
		(void)edo_state_wake_by_ref(&shared.word); /* NOTIFIED is set */
		/* Relaxed: only says that it is done, orders nothing. */
		__atomic_store_n(&shared.published, UINT32_MAX, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void pitfall_p60_a_wake_of_a_notified_task_publishes_too(void **state)
{
	pthread_t thread;

	(void)state;
	shared.word = N + 3 * REF;
	assert_int_equal(pthread_create(&thread, NULL, writer, NULL), 0);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		while (__atomic_load_n(&shared.published, __ATOMIC_RELAXED) != UINT32_MAX)
			;
		assert_int_equal(edo_state_start_poll(&shared.word), EDO_START_POLL);
		assert_int_equal(shared.data, i);
		shared.word = N + 3 * REF;
		__atomic_store_n(&shared.published, i, __ATOMIC_RELEASE);
	}
	pthread_join(thread, NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(start_poll_takes_an_idle_task_and_drops_a_needless_notification),
	cmocka_unit_test(end_poll_hands_on_what_was_notified_and_ends_what_was_cancelled),
	cmocka_unit_test(complete_turns_running_into_complete_and_nothing_else),
	cmocka_unit_test(a_wake_uses_its_reference_up_or_makes_it_the_queues),
	cmocka_unit_test(a_wake_by_reference_adds_one_only_for_the_queue),
	cmocka_unit_test(cancel_marks_once_and_sees_to_it_that_somebody_looks),
	cmocka_unit_test(shut_down_takes_what_is_idle_and_marks_the_rest),
	cmocka_unit_test(the_join_waker_changes_hands_only_before_completion),
	cmocka_unit_test(the_handle_goes_with_the_waker_unless_the_completer_has_it),
	cmocka_unit_test(references_do_not_touch_the_flags),
	cmocka_unit_test(the_questions_read_their_flags),
	cmocka_unit_test(a_new_task_has_three_references_and_is_notified),
	cmocka_unit_test(pitfall_p60_a_wake_of_a_notified_task_publishes_too),
};

EDO_TEST_MAIN(tests)
