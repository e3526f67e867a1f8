/* The walker's body in standard C, where the macros need the switch for themselves: ifs. */
#define EDO_ASYNC_STANDARD_C
#include "walker.h"

static edo_poll walker_poll(edo_future *future, edo_context *cx)
{
	struct walker *me = edo_container_of(future, struct walker, async.future);

	EDO_BEGIN(me, cx);
	say(me->script, BEGUN, me->depth);
	while (script_goes_on(me->script)) {
		me->kind = choose(me->script, 8);
		if (me->kind == 0) {
			EDO_AWAIT(step_begin(me));
		} else if (me->kind == 1) {
			for (me->i = choose(me->script, 5); me->i > 0; me->i--) {
				EDO_AWAIT(step_begin(me));
				say(me->script, AWAITED, me->async.result);
				if (choose(me->script, 4) == 3)
					break;
			}
		} else if (me->kind == 2) {
			for (me->i = choose(me->script, 4); me->i > 0; me->i--) {
				for (me->j = choose(me->script, 4); me->j > 0; me->j--) {
					if (choose(me->script, 3) == 2)
						continue;
					EDO_AWAIT(step_begin(me));
					say(me->script, PASSED, me->i * 10 + me->j);
				}
				EDO_AWAIT(yield_begin(me));
			}
		} else if (me->kind == 3) {
			EDO_AWAIT(yield_begin(me));
		} else if (me->kind == 4 && me->depth < DEEPEST) {
			EDO_AWAIT(child_begin(me));
			child_end(me);
		} else if (me->kind == 5 || me->kind == 6) {
			if (me->kind == 5) {
				EDO_AWAIT(step_begin(me));
				say(me->script, PASSED, 5);
			}
			if (choose(me->script, 2)) {
				EDO_AWAIT(step_begin(me));
			} else {
				EDO_AWAIT(yield_begin(me));
				EDO_AWAIT(step_begin(me));
			}
		} else if (me->kind == 7) {
			say(me->script, ENDED, me->depth);
			EDO_RETURN(choose_value(me->script));
		}
		say(me->script, AWAITED, me->async.result);
	}
	say(me->script, ENDED, me->depth);
	EDO_END(me->async.result);
}

EDO_FUTURE_OPS(walker_ops, struct walker, async.future, walker_poll, walker_drop);
const edo_future_ops *const walker_of_standard_c = &walker_ops;
