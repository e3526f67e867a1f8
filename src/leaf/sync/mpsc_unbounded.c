/*
 * Unbounded channels: items in a chain of blocks.
 *
 * Emptied blocks are kept at hand, as many as hold what a task may send in one turn (its coop budget): so a
 * sender and a receiver that take turns allocate nothing. Blocks are taken from the heap and given back with
 * the lock free; after the close no block is put at hand, and the receiver alone has the chain.
 */
#include "mpsc.h"
#include "task/task.h"
#include <errno.h>
#include <stdlib.h>

enum {
	ITEMS_OF_BLOCK = 32,
	MOST_SPARES = EDO_COOP_BUDGET / ITEMS_OF_BLOCK,
};

struct edo_mpsc_block {
	struct edo_mpsc_block *next;
	_Alignas(EDO_ITEM_ALIGN) char items[];
};

static size_t items_size(const struct edo_mpsc *channel)
{
	return ITEMS_OF_BLOCK * channel->item_size;
}

static struct edo_mpsc_block *allocate_block(const struct edo_mpsc *channel)
{
	struct edo_mpsc_block *block = malloc(sizeof *block + items_size(channel));

	if (block)
		block->next = NULL;
	return block;
}

static void receive_from(struct edo_mpsc *channel, struct edo_mpsc_block *block)
{
	channel->first = block;
	channel->take = channel->take_start = block->items;
	channel->take_end = block->items + items_size(channel);
}

static void send_into(struct edo_mpsc *channel, struct edo_mpsc_block *block)
{
	channel->last = block;
	channel->put = block->items;
	channel->put_end = block->items + items_size(channel);
}

/* Items without a size need no block: they go round in a ring of nothing. */
static bool begin_chain(struct edo_mpsc *channel)
{
	struct edo_mpsc_block *block;

	if (channel->item_size == 0)
		return true;
	block = allocate_block(channel);
	if (!block)
		return false;
	receive_from(channel, block);
	send_into(channel, block);
	return true;
}

int edo_mpsc_create_unbounded(edo_mpsc_tx **tx, edo_mpsc_rx **rx, size_t item_size)
{
	struct edo_mpsc *channel;

	*tx = NULL;
	*rx = NULL;
	if (item_size > (PTRDIFF_MAX - sizeof(struct edo_mpsc_block)) / ITEMS_OF_BLOCK)
		return -EINVAL;
	channel = edo_mpsc_new(item_size, SIZE_MAX, 0);
	if (!channel)
		return -ENOMEM;
	if (!begin_chain(channel)) {
		edo_mpsc_free(channel);
		return -ENOMEM;
	}
	edo_mpsc_hand_out(channel, tx, rx);
	return 0;
}

static void put_at_hand(struct edo_mpsc *channel, struct edo_mpsc_block *block)
{
	block->next = channel->spare;
	channel->spare = block;
	channel->spares++;
}

bool edo_mpsc_grow(struct edo_mpsc *channel)
{
	struct edo_mpsc_block *block = channel->spare;

	if (!block)
		return false;
	channel->spare = block->next;
	channel->spares--;
	block->next = NULL;
	channel->last->next = block;
	send_into(channel, block);
	return true;
}

bool edo_mpsc_bring_block(struct edo_mpsc *channel)
{
	struct edo_mpsc_block *block = allocate_block(channel);

	if (!block)
		return false;
	edo_mpsc_lock(channel);
	if (!channel->is_closed) {
		put_at_hand(channel, block);
		block = NULL;
	}
	edo_mpsc_unlock(channel);
	free(block);
	return true;
}

/* Called with an item behind it, so there is a next one. */
void *edo_mpsc_leave_block(struct edo_mpsc *channel)
{
	struct edo_mpsc_block *emptied = channel->first;

	EDO_ASSERT(emptied->next);
	receive_from(channel, emptied->next);
	if (channel->spares >= MOST_SPARES)
		return emptied;
	put_at_hand(channel, emptied);
	return NULL;
}

static void free_chain(struct edo_mpsc_block *block)
{
	while (block) {
		struct edo_mpsc_block *next = block->next;

		free(block);
		block = next;
	}
}

void edo_mpsc_free_blocks(struct edo_mpsc *channel)
{
	free_chain(channel->first);
	free_chain(channel->spare);
}
