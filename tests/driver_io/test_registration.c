/* Registrations: slots, tokens, and descriptors that are closed, dup'd and reused under us. */
#include "base/atomic.h"
#include "driver_io/rig.h"
#include "support/allocations.h"
#include "support/runner.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int register_fd(struct edo_io_driver *io, int fd, struct edo_registration *registration)
{
	return edo_io_register(io, fd, 0, registration);
}

static int deregister(struct edo_io_driver *io, const struct edo_registration *registration)
{
	return edo_io_deregister(io, registration->index, registration->generation);
}

static struct edo_scheduled_io *find(struct edo_io_driver *io,
				     const struct edo_registration *registration)
{
	return edo_io_find(io, registration->index, registration->generation);
}

static void a_registration_is_found_by_its_own_name_only(void **state)
{
	struct edo_io_driver io;
	struct edo_registration registration;
	int fd = make_eventfd();

	(void)state;
	rig_make(&io, 16);
	assert_int_equal(register_fd(&io, fd, &registration), 0);

	assert_non_null(find(&io, &registration));
	assert_null(edo_io_find(&io, registration.index, registration.generation + 2));
	assert_null(edo_io_find(&io, registration.index, registration.generation - 1));
	assert_null(edo_io_find(&io, registration.index + 1, registration.generation));
	assert_null(edo_io_find(&io, UINT32_MAX, registration.generation));
	assert_null(edo_io_find(&io, 0, 0)); /* an object of zeros names nothing */

	assert_int_equal(deregister(&io, &registration), 0);
	assert_null(find(&io, &registration));
	close(fd);
	rig_end(&io);
}

static void pitfall_p45_only_one_of_two_ends_a_registration(void **state)
{
	struct edo_io_driver io;
	struct edo_registration registration;
	int fd = make_eventfd();

	(void)state;
	rig_make(&io, 16);
	assert_int_equal(register_fd(&io, fd, &registration), 0);

	assert_int_equal(deregister(&io, &registration), 0);
	assert_int_equal(deregister(&io, &registration), -EBADF);

	close(fd);
	rig_end(&io);
}

static void pitfall_p45_a_descriptor_closed_under_us_is_unlinked_and_reported(void **state)
{
	struct edo_io_driver io;
	struct edo_registration registration, again;
	int fd = make_eventfd();

	(void)state;
	rig_make(&io, 16);
	assert_int_equal(register_fd(&io, fd, &registration), 0);
	close(fd);

	assert_int_equal(deregister(&io, &registration), -EBADF);
	assert_null(find(&io, &registration));
	assert_int_equal(edo_load(&io.slab.live, relaxed), 0);
	settle(&io);
	fd = make_eventfd();
	assert_int_equal(register_fd(&io, fd, &again), 0);
	assert_int_equal(again.index, registration.index); /* nothing has leaked */

	assert_int_equal(deregister(&io, &again), 0);
	close(fd);
	rig_end(&io);
}

static void pitfall_p45_events_kept_coming_by_a_dup_are_counted_and_ignored(void **state)
{
	struct edo_io_driver io;
	struct watched reader;
	int fds[2], duplicate;

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &reader);
	duplicate = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
	assert_return_code(duplicate, errno);
	close(fds[0]);
	assert_int_equal(unwatch(&reader), -EBADF);

	write_byte(fds[1]);
	settle(&io);

	assert_true(edo_load(&io.stale_tokens, relaxed) > 0);
	close(duplicate);
	close(fds[1]);
	rig_end(&io);
}

/* The slot's next user must not be told of the old descriptor's events. */
static void pitfall_p46_an_event_for_an_ended_registration_reaches_nobody(void **state)
{
	struct edo_io_driver io;
	struct watched old, young;
	int fds[2], duplicate, other = make_eventfd();

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &old);
	duplicate = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
	close(fds[0]);
	assert_int_equal(unwatch(&old), -EBADF);
	settle(&io);
	watch(&io, other, &young);
	settle(&io);
	assert_int_equal(young.registration.index, old.registration.index);
	assert_int_equal(poll_once(&young, EDO_READING), EDO_PENDING);

	write_byte(fds[1]);
	settle(&io);

	assert_int_equal(wakes_of(&young.counter[EDO_READING]), 0);
	assert_int_equal(poll_once(&young, EDO_READING), EDO_PENDING);
	assert_int_equal(unwatch(&young), 0);
	close(duplicate);
	close(fds[1]);
	close(other);
	rig_end(&io);
}

/* A poll with the old name is told so, also when the slot has a new user. */
static void pitfall_p46_a_stale_name_is_bad_in_every_call(void **state)
{
	struct edo_io_driver io;
	struct watched old, young;
	int fd = make_eventfd();
	bool claimed = true;
	uint64_t word;

	(void)state;
	rig_make(&io, 16);
	watch(&io, fd, &old);
	settle(&io);
	assert_int_equal(poll_once(&old, EDO_WRITING), EDO_READY);
	assert_int_equal(unwatch(&old), 0);
	settle(&io);
	watch(&io, fd, &young);
	settle(&io);
	assert_ptr_equal(young.sio, old.sio);
	assert_int_equal(poll_once(&young, EDO_READING), EDO_PENDING);

	word = edo_load(&young.sio->readiness, relaxed);
	assert_int_equal(poll_once(&old, EDO_WRITING), -EBADF);
	assert_int_equal(edo_io_call_begin(old.sio, old.registration.generation, EDO_READING),
			 -EBADF);
	clear_seen(&old, EDO_WRITING);
	edo_io_unclaim(old.sio, old.registration.generation, EDO_READING, &claimed);
	assert_int_equal(unwatch(&old), -EBADF);

	assert_true(edo_load(&young.sio->readiness, relaxed) == word);
	assert_true(young.sio->claimed[EDO_READING]);
	assert_int_equal(unwatch(&young), 0);
	close(fd);
	rig_end(&io);
}

static void pitfall_p47_a_second_registration_of_one_descriptor_is_refused(void **state)
{
	struct edo_io_driver io;
	struct watched reader;
	struct edo_registration second;
	int fds[2];

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &reader);
	assert_int_equal(register_fd(&io, fds[0], &second), -EEXIST);
	assert_int_equal(edo_load(&io.slab.live, relaxed), 1);

	write_byte(fds[1]);
	settle(&io);

	assert_int_equal(poll_once(&reader, EDO_READING), EDO_READY); /* the first is unharmed */
	assert_int_equal(unwatch(&reader), 0);
	assert_int_equal(register_fd(&io, fds[0], &second), 0);
	assert_int_equal(deregister(&io, &second), 0);
	close_pair(fds);
	rig_end(&io);
}

/* Closed before the drop, the number reused and registered: the late drop must not touch the new one. */
static void pitfall_p47_a_late_drop_leaves_the_reused_number_s_registration_alone(void **state)
{
	struct edo_io_driver io;
	struct watched old, young;
	int fds[2], fd = make_eventfd();

	(void)state;
	rig_make(&io, 16);
	watch(&io, fd, &old);
	close(fd);
	make_pipe(fds);
	assert_int_equal(dup2(fds[0], fd), fd); /* as the kernel would, to the same number */
	watch(&io, fd, &young);

	assert_int_equal(unwatch(&old), -EBADF);
	assert_int_equal(poll_once(&young, EDO_READING), EDO_PENDING);
	write_byte(fds[1]);
	settle(&io);

	assert_int_equal(wakes_of(&young.counter[EDO_READING]), 1);
	assert_int_equal(unwatch(&young), 0);
	if (fd != fds[0])
		close(fd);
	close_pair(fds);
	rig_end(&io);
}

/* Register, dup, close, drop, dup back to the old number: the kernel says EEXIST, though nobody has it. */
static void pitfall_p47_a_dup_that_comes_back_at_its_old_number_can_be_registered(void **state)
{
	struct edo_io_driver io;
	struct watched old, young;
	int fds[2], duplicate;

	(void)state;
	rig_make(&io, 16);
	make_pipe(fds);
	watch(&io, fds[0], &old);
	duplicate = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
	close(fds[0]);
	assert_int_equal(unwatch(&old), -EBADF);
	assert_int_equal(dup3(duplicate, fds[0], O_CLOEXEC), fds[0]);
	settle(&io);

	watch(&io, fds[0], &young);
	assert_int_equal(poll_once(&young, EDO_READING), EDO_PENDING);
	write_byte(fds[1]);
	settle(&io);

	assert_int_equal(wakes_of(&young.counter[EDO_READING]), 1);
	assert_int_equal(unwatch(&young), 0);
	assert_int_equal(read_all(fds[0]), 1);
	close(duplicate);
	close_pair(fds);
	rig_end(&io);
}

static void pitfall_p47_a_slot_is_not_reused_before_the_holder_s_next_turn(void **state)
{
	struct edo_io_driver io;
	struct edo_registration first, second, third;
	int fd = make_eventfd();

	(void)state;
	rig_make(&io, 16);
	assert_int_equal(register_fd(&io, fd, &first), 0);
	assert_int_equal(deregister(&io, &first), 0);
	assert_int_equal(register_fd(&io, fd, &second), 0);
	assert_int_not_equal(second.index, first.index);
	assert_int_equal(deregister(&io, &second), 0);

	(void)edo_io_turn(&io, 0);

	assert_int_equal(register_fd(&io, fd, &third), 0);
	assert_int_equal(third.index, first.index);
	assert_int_not_equal(third.generation, first.generation);
	assert_int_equal(deregister(&io, &third), 0);
	close(fd);
	rig_end(&io);
}

static void pitfall_p47_a_token_is_not_given_out_again_when_generations_are_used_up(void **state)
{
	struct edo_io_driver io;
	struct edo_registration last, next;
	struct edo_scheduled_io *sio;
	int fd = make_eventfd();

	(void)state;
	rig_make(&io, 16);
	assert_int_equal(register_fd(&io, fd, &last), 0);
	sio = find(&io, &last);
	assert_int_equal(deregister(&io, &last), 0);
	settle(&io);
	edo_store(&sio->generation, UINT32_MAX - 1, relaxed);
	assert_int_equal(register_fd(&io, fd, &last), 0);
	assert_int_equal(last.generation, UINT32_MAX);
	assert_int_equal(deregister(&io, &last), 0);
	settle(&io);

	for (int i = 0; i < 3; i++) {
		assert_int_equal(register_fd(&io, fd, &next), 0);
		assert_int_not_equal(next.index, last.index);
		assert_int_equal(deregister(&io, &next), 0);
		settle(&io);
	}
	assert_null(find(&io, &last));
	close(fd);
	rig_end(&io);
}

static void assert_closed_on_exec(int fd)
{
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void pitfall_p48_the_poller_s_descriptors_are_closed_on_exec(void **state)
{
	struct edo_io_driver io;

	(void)state;
	rig_make(&io, 16);
	assert_closed_on_exec(io.poller.epoll);
	assert_closed_on_exec(io.poller.wake_fd);
	rig_end(&io);
}

static void what_cannot_be_polled_is_refused_and_leaves_nothing(void **state)
{
	char path[] = "/tmp/edo-file-XXXXXX";
	struct edo_io_driver io;
	struct edo_registration registration;
	int file = mkostemp(path, O_CLOEXEC);

	(void)state;
	rig_make(&io, 16);

	assert_int_equal(register_fd(&io, file, &registration), -EPERM);
	assert_int_equal(register_fd(&io, -1, &registration), -EBADF);
	assert_int_equal(register_fd(&io, 12345, &registration), -EBADF);
	assert_int_equal(register_fd(&io, INT32_MAX, &registration), -ENOMEM);
	assert_int_equal(edo_load(&io.slab.live, relaxed), 0);

	close(file);
	unlink(path);
	rig_end(&io);
}

static void slots_outgrow_their_first_chunks_without_moving(void **state)
{
	enum { MANY = 500 };
	struct edo_io_driver io;
	static struct edo_registration registrations[MANY];
	static int fds[MANY];
	struct edo_scheduled_io *first;

	(void)state;
	rig_make(&io, 16);
	for (int i = 0; i < MANY; i++) {
		fds[i] = make_eventfd();
		assert_int_equal(register_fd(&io, fds[i], &registrations[i]), 0);
	}
	first = find(&io, &registrations[0]);
	assert_int_equal(edo_load(&io.slab.live, relaxed), MANY);
	for (int i = 0; i < MANY; i++) {
		struct edo_scheduled_io *sio = find(&io, &registrations[i]);

		assert_non_null(sio);
		assert_int_equal(sio->index, registrations[i].index);
		assert_int_equal(sio->fd, fds[i]);
	}
	assert_ptr_equal(find(&io, &registrations[0]), first);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(deregister(&io, &registrations[i]), 0);
		close(fds[i]);
	}
	rig_end(&io);
}

static void registering_again_and_again_allocates_nothing(void **state)
{
	struct edo_io_driver io;
	struct edo_registration registration;
	int fd = make_eventfd();
	uint64_t made = 0;

	(void)state;
	rig_make(&io, 16);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(register_fd(&io, fd, &registration), 0);
		assert_int_equal(deregister(&io, &registration), 0);
		(void)edo_io_turn(&io, 0);
		if (i == 0)
			made = edo_test_allocations_made();
	}
	assert_true(edo_test_allocations_made() == made);
	close(fd);
	rig_end(&io);
}

static void a_failed_allocation_is_told_and_changes_nothing(void **state)
{
	int fd = make_eventfd();

	(void)state;
	for (uint64_t n = 0;; n++) {
		struct edo_io_driver io;
		struct edo_registration registration;
		int rc;

		edo_test_allocations_fail(n);
		rc = edo_io_init(&io, 1, 16, &rig_allocator);
		if (rc == 0) {
			rc = register_fd(&io, fd, &registration);
			if (rc < 0)
				assert_int_equal(edo_load(&io.slab.live, relaxed), 0);
			else
				assert_int_equal(deregister(&io, &registration), 0);
			rig_end(&io);
		}
		if (!edo_test_allocations_failed())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	edo_test_allocations_fail(EDO_TEST_NEVER);
	close(fd);
}

static void a_copy_takes_over_and_the_original_is_dead(void **state)
{
	struct edo_io_driver io;
	struct edo_registration registration;
	struct edo_scheduled_io *sio;
	uint32_t original, copy;
	int fd = make_eventfd();

	(void)state;
	rig_make(&io, 16);
	assert_int_equal(register_fd(&io, fd, &registration), 0);
	sio = find(&io, &registration);
	original = registration.epoch;
	assert_int_equal(edo_io_adopt(sio, 0, &original, &original), 0);
	assert_int_equal(edo_io_adopt(sio, 0, &original, &original), 0);

	copy = original;
	assert_int_equal(edo_io_adopt(sio, 0, &original, &original),
			 0); /* not used yet: not moved */
	assert_int_equal(edo_io_adopt(sio, 0, &copy, &copy), 0);
	assert_int_equal(edo_io_adopt(sio, 0, &original, &original), -EBADF);
	assert_int_equal(edo_io_adopt(sio, 0, &copy, &copy), 0);

	original = copy; /* moved back to where it came from */
	assert_int_equal(edo_io_adopt(sio, 0, &original, &original), 0);
	assert_int_equal(edo_io_adopt(sio, 0, &copy, &copy), -EBADF);

	assert_int_equal(deregister(&io, &registration), 0);
	close(fd);
	rig_end(&io);
}

/* It was found in time, and the slot was given to somebody else before it was used. */
static void an_object_of_a_slots_former_use_is_dead(void **state)
{
	struct edo_io_driver io;
	struct edo_registration former, present;
	struct edo_scheduled_io *sio;
	int fd = make_eventfd();

	(void)state;
	rig_make(&io, 16);
	assert_int_equal(register_fd(&io, fd, &former), 0);
	sio = find(&io, &former);
	assert_int_equal(deregister(&io, &former), 0);
	(void)edo_io_turn(&io, 0);
	assert_int_equal(register_fd(&io, fd, &present), 0);
	assert_ptr_equal(find(&io, &present), sio);

	assert_int_equal(edo_io_adopt(sio, 0, &former, &former.epoch), -EBADF);
	assert_int_equal(edo_io_adopt(sio, 0, &present, &present.epoch), 0);

	assert_int_equal(deregister(&io, &present), 0);
	close(fd);
	rig_end(&io);
}

static void halves_move_on_their_own(void **state)
{
	struct edo_io_driver io;
	struct edo_registration registration;
	struct edo_scheduled_io *sio;
	uint32_t reader, writer, moved_reader;
	int fd = make_eventfd();

	(void)state;
	rig_make(&io, 16);
	assert_int_equal(register_fd(&io, fd, &registration), 0);
	sio = find(&io, &registration);
	reader = writer = registration.epoch;
	assert_int_equal(edo_io_adopt(sio, 0, &reader, &reader), 0);
	assert_int_equal(edo_io_adopt(sio, 1, &writer, &writer), 0);

	moved_reader = reader;
	assert_int_equal(edo_io_adopt(sio, 0, &moved_reader, &moved_reader), 0);

	assert_int_equal(edo_io_adopt(sio, 0, &reader, &reader), -EBADF);
	assert_int_equal(edo_io_adopt(sio, 1, &writer, &writer), 0);
	assert_int_equal(deregister(&io, &registration), 0);
	close(fd);
	rig_end(&io);
}

static void one_call_a_direction_is_under_way_at_a_time(void **state)
{
	struct edo_io_driver io;
	struct watched socket;
	int fds[2];
	uint32_t generation;

	(void)state;
	rig_make(&io, 16);
	make_socket_pair(fds);
	watch(&io, fds[0], &socket);
	generation = socket.registration.generation;

	assert_int_equal(edo_io_call_begin(socket.sio, generation, EDO_READING), 0);
	assert_int_equal(edo_io_call_begin(socket.sio, generation, EDO_READING), -EBUSY);
	assert_int_equal(edo_io_call_begin(socket.sio, generation, EDO_WRITING), 0);
	write_byte(fds[1]);
	settle(&io); /* an event in between changes nothing about the marks */
	edo_io_call_end(socket.sio, EDO_READING);
	assert_int_equal(edo_io_call_begin(socket.sio, generation, EDO_READING), 0);
	edo_io_call_end(socket.sio, EDO_READING);
	edo_io_call_end(socket.sio, EDO_WRITING);
	assert_int_equal(poll_once(&socket, EDO_READING), EDO_READY);

	assert_int_equal(unwatch(&socket), 0);
	assert_int_equal(edo_io_call_begin(socket.sio, generation, EDO_READING), -EBADF);
	close_pair(fds);
	rig_end(&io);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_registration_is_found_by_its_own_name_only),
	cmocka_unit_test(pitfall_p45_only_one_of_two_ends_a_registration),
	cmocka_unit_test(pitfall_p45_a_descriptor_closed_under_us_is_unlinked_and_reported),
	cmocka_unit_test(pitfall_p45_events_kept_coming_by_a_dup_are_counted_and_ignored),
	cmocka_unit_test(pitfall_p46_an_event_for_an_ended_registration_reaches_nobody),
	cmocka_unit_test(pitfall_p46_a_stale_name_is_bad_in_every_call),
	cmocka_unit_test(pitfall_p47_a_second_registration_of_one_descriptor_is_refused),
	cmocka_unit_test(pitfall_p47_a_late_drop_leaves_the_reused_number_s_registration_alone),
	cmocka_unit_test(pitfall_p47_a_dup_that_comes_back_at_its_old_number_can_be_registered),
	cmocka_unit_test(pitfall_p47_a_slot_is_not_reused_before_the_holder_s_next_turn),
	cmocka_unit_test(pitfall_p47_a_token_is_not_given_out_again_when_generations_are_used_up),
	cmocka_unit_test(pitfall_p48_the_poller_s_descriptors_are_closed_on_exec),
	cmocka_unit_test(what_cannot_be_polled_is_refused_and_leaves_nothing),
	cmocka_unit_test(slots_outgrow_their_first_chunks_without_moving),
	cmocka_unit_test(registering_again_and_again_allocates_nothing),
	cmocka_unit_test(a_failed_allocation_is_told_and_changes_nothing),
	cmocka_unit_test(a_copy_takes_over_and_the_original_is_dead),
	cmocka_unit_test(an_object_of_a_slots_former_use_is_dead),
	cmocka_unit_test(halves_move_on_their_own),
	cmocka_unit_test(one_call_a_direction_is_under_way_at_a_time),
};

EDO_TEST_MAIN(tests)
