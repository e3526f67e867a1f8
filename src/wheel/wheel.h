/*
 * The door of the wheel: <edo/wheel.h>, and what the time driver needs beyond it.
 *
 * Time is an odometer of six dials with 64 digits each; each dial is a level of 64 slots. A timer
 * lies at the highest dial on which its tick differs from where the dials stand. When that dial
 * turns to the timer's digit, its slot opens: its timers cascade to finer dials, until at level 0 a
 * slot is a tick.
 *
 * Whose: one owner at a time, or one lock, guards a wheel and the lists and places of its timers.
 * The one exception: whoever owns a timer may at any moment, without the lock, move a linked
 * timer's `when` to a LATER tick by an atomic read-modify-write. So the wheel reads the `when` of a
 * linked timer by one atomic load a decision, and files by what it read: too early it may be, and
 * is found again when the slot opens; too late never. A timer in no list may hold anything in
 * `when`: only links say "armed".
 *
 * W1  An entry lies in the slot that was chosen when it was linked; level and slot remember it, and
 *     removal is told, never recomputes. They change only while the entry is in no list. They are
 *     also all that is left of the tick it was filed by: at level 0 the slot is that tick, above it
 *     any tick of the slot is as good. What the owner wants (`when`) may run ahead; it is never
 *     before the tick at which the place opens.
 * W2  An occupied bit is set exactly while its slot is not empty.
 * W3  An entry expires at its own tick; what is at or before the present is not accepted.
 * W4  All slots that are not empty open at or after the dials: at levels 1 to 4 in this turn of the
 *     dial above, so a set bit is ahead of the dial; level 0 alone may use its present slot. Any
 *     slot of a level opens before all of the next. So the earliest is the lowest bit of the lowest
 *     level.
 * W5  The top level's dial goes round (a lap): a slot there may hold entries of many laps, the
 *     present slot those of laps to come. top_opens says for each occupied slot when it opens for
 *     the earliest of them (or for one that has gone); the others then go round again.
 * W6  A slot that opens is detached whole to `cascading` before its entries are filed anew,
 *     possibly in the same slot. What is left of it there is due before everything else: it opened
 *     at `dials`, and the dials do not move before it is empty. Its entries still name the slot
 *     they came from.
 *
 * dials <= present; equal after a complete poll. count is the number of linked entries.
 */
#ifndef EDO_WHEEL_WHEEL_H
#define EDO_WHEEL_WHEEL_H

#include <edo/wheel.h>

/*
 * Puts back what a poll has just handed out, when its owner turns out to have moved it to a later
 * tick in the meantime. It files by what `when` holds and does not write it, since the owner may be
 * moving it on at this moment. Unlike edo_wheel_insert() it takes ticks up to the present, where
 * the poll under way finds them again, in order; they are after the tick at which the timer
 * expired.
 */
void edo_wheel_refile(edo_wheel *wheel, edo_wheel_timer *timer);

#endif
