/*
 * Which registration a descriptor's number belongs to.
 *
 * The kernel knows a registration by number and open file, so a program that closes a descriptor
 * before it drops the registration leaves things behind that nobody else can tell apart (p45, p47):
 *  - the number has been given out again and registered anew: removing the old registration by its
 *    number would remove the new one's. The table says that the number is no longer the old one's;
 *  - a dup keeps the old file open and comes back at the old number: adding it says EEXIST, although no
 *    registration has it. The table says that nobody has, and the kernel's entry is taken over.
 *
 * An entry is held locked (LOCKED) from before the system call until its outcome is known, so that the
 * table and the kernel say the same of a number. Two threads meet here only when a program adds or
 * removes one number in both at once, so waiting is spinning, for the length of one system call.
 */
#include "driver/io/scheduled_io.h"
#include <errno.h>
#include <string.h>

#define LOCKED UINT32_MAX

static size_t chunk_size(unsigned chunk)
{
	return edo_chunk_length(chunk) * sizeof(uint32_t);
}

/* Puts the chunk into the table unless somebody else was faster. */
static bool install(struct edo_io_driver *io, unsigned chunk, uint32_t *fresh)
{
	uint32_t *none = NULL;

	/* Release: its zeros are seen by whoever loads the pointer (acquire, below). */
	return edo_compare_exchange(&io->descriptors.chunks[chunk], &none, fresh, release, relaxed);
}

int edo_descriptors_reserve(struct edo_io_driver *io, int fd)
{
	struct edo_chunk_place place = edo_chunk_place_of((uint32_t)fd);
	const edo_allocator *memory = io->allocator;
	uint32_t *fresh;

	if (place.chunk >= EDO_SLAB_CHUNKS)
		return -ENOMEM;
	/* Relaxed: it is not looked into here; whoever does reads it again, see entry_of(). */
	if (edo_load(&io->descriptors.chunks[place.chunk], relaxed))
		return 0;
	fresh = memory->allocate(memory->context, chunk_size(place.chunk), sizeof *fresh);
	if (!fresh)
		return -ENOMEM;
	memset(fresh, 0, chunk_size(place.chunk));
	if (!install(io, place.chunk, fresh))
		memory->release(memory->context, fresh, chunk_size(place.chunk));
	return 0;
}

static uint32_t *entry_of(struct edo_io_driver *io, int fd)
{
	struct edo_chunk_place place = edo_chunk_place_of((uint32_t)fd);

	/* Acquire: pairs with install(). */
	return edo_load(&io->descriptors.chunks[place.chunk], acquire) + place.offset;
}

uint32_t edo_descriptors_lock(struct edo_io_driver *io, int fd)
{
	uint32_t *entry = entry_of(io, fd);
	uint32_t slot;

	/* Acquire: pairs with the unlock of whoever had it. */
	while ((slot = edo_exchange(entry, LOCKED, acquire)) == LOCKED)
		edo_sys_cpu_relax();
	return slot;
}

void edo_descriptors_unlock(struct edo_io_driver *io, int fd, uint32_t slot)
{
	edo_store(entry_of(io, fd), slot, release); /* pairs with edo_descriptors_lock() */
}

void edo_descriptors_free(struct edo_io_driver *io)
{
	for (unsigned chunk = 0; chunk < EDO_SLAB_CHUNKS; chunk++) {
		if (io->descriptors.chunks[chunk])
			io->allocator->release(io->allocator->context,
					       io->descriptors.chunks[chunk], chunk_size(chunk));
		io->descriptors.chunks[chunk] = NULL;
	}
}
