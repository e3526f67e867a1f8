/* The walker's body as gcc and clang take it by default: awaits inside a switch of its own. */
#include "walker.h"

static edo_poll walker_poll(edo_future *future, edo_context *cx)
{
	struct walker *me = edo_container_of(future, struct walker, async.future);

	EDO_BEGIN(me, cx);
	say(me->script, BEGUN, me->depth);
	while (script_goes_on(me->script)) {
		me->kind = choose(me->script, 8);
		switch (me->kind) {
		case 0:
			EDO_AWAIT(step_begin(me));
			break;
		case 1:
			for (me->i = choose(me->script, 5); me->i > 0; me->i--) {
				EDO_AWAIT(step_begin(me));
				say(me->script, AWAITED, me->async.result);
				if (choose(me->script, 4) == 3)
					break;
			}
			break;
		case 2:
			for (me->i = choose(me->script, 4); me->i > 0; me->i--) {
				for (me->j = choose(me->script, 4); me->j > 0; me->j--) {
					if (choose(me->script, 3) == 2)
						continue;
					EDO_AWAIT(step_begin(me));
					say(me->script, PASSED, me->i * 10 + me->j);
				}
				EDO_AWAIT(yield_begin(me));
			}
			break;
		case 3:
			EDO_AWAIT(yield_begin(me));
			break;
		case 4:
			if (me->depth == DEEPEST)
				break;
			EDO_AWAIT(child_begin(me));
			child_end(me);
			break;
		case 5:
			EDO_AWAIT(step_begin(me));
			say(me->script, PASSED, 5);
			__attribute__((fallthrough));
		case 6:
			if (choose(me->script, 2)) {
				EDO_AWAIT(step_begin(me));
			} else {
				EDO_AWAIT(yield_begin(me));
				EDO_AWAIT(step_begin(me));
			}
			break;
		default:
			say(me->script, ENDED, me->depth);
			EDO_RETURN(choose_value(me->script));
		}
		say(me->script, AWAITED, me->async.result);
	}
	say(me->script, ENDED, me->depth);
	EDO_END(me->async.result);
}

EDO_FUTURE_OPS(walker_ops, struct walker, async.future, walker_poll, walker_drop);
const edo_future_ops *const walker_with_labels = &walker_ops;
