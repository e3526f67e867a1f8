/*
 * The ABI: sizes and offsets of every public struct, the same in debug and release builds, on 64-bit
 * machines. Whoever changes a number here changes the soname (src/meson.build).
 */
#include "support/runner.h"
#include <edo/edo.h>

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " changed its size")
#define ALIGN(type, align) _Static_assert(_Alignof(type) == (align), #type " changed its alignment")
#define OFFSET(type, member, offset)                                                               \
	_Static_assert(offsetof(type, member) == (offset), #type "." #member " has moved")

_Static_assert(sizeof(void *) == 8, "the numbers are those of 64-bit machines");

/* <edo/waker.h> */
SIZE(edo_waker_ops, 32);
ALIGN(edo_waker_ops, 8);
OFFSET(edo_waker_ops, clone, 0);
OFFSET(edo_waker_ops, wake, 8);
OFFSET(edo_waker_ops, wake_by_ref, 16);
OFFSET(edo_waker_ops, drop, 24);
SIZE(edo_waker, 16);
ALIGN(edo_waker, 8);
OFFSET(edo_waker, data, 0);
OFFSET(edo_waker, ops, 8);
SIZE(edo_atomic_waker, 24);
ALIGN(edo_atomic_waker, 8);
OFFSET(edo_atomic_waker, edo_state_, 0);
OFFSET(edo_atomic_waker, edo_waker_, 8);

/* <edo/future.h> */
SIZE(edo_future_ops, 40);
ALIGN(edo_future_ops, 8);
OFFSET(edo_future_ops, poll, 0);
OFFSET(edo_future_ops, drop, 8);
OFFSET(edo_future_ops, size, 16);
OFFSET(edo_future_ops, align, 20);
OFFSET(edo_future_ops, flags, 22);
OFFSET(edo_future_ops, name, 24);
OFFSET(edo_future_ops, awaits, 32);
SIZE(edo_future, 8);
ALIGN(edo_future, 8);
OFFSET(edo_future, ops, 0);
SIZE(edo_context, 32);
ALIGN(edo_context, 8);
OFFSET(edo_context, waker, 0);
OFFSET(edo_context, edo_driver_, 8);
OFFSET(edo_context, edo_now_, 16);
OFFSET(edo_context, edo_budget_, 24);
OFFSET(edo_context, edo_reserved_, 28);

/* <edo/async.h> */
SIZE(edo_async, 32);
ALIGN(edo_async, 8);
OFFSET(edo_async, future, 0);
OFFSET(edo_async, result, 8);
OFFSET(edo_async, edo_resume_, 16);
OFFSET(edo_async, edo_awaiting_, 24);

/* <edo/deadline.h> */
SIZE(edo_deadline, 56);
ALIGN(edo_deadline, 8);
OFFSET(edo_deadline, edo_fiber_, 0);
OFFSET(edo_deadline, edo_deadline_, 8);
OFFSET(edo_deadline, edo_outer_deadline_, 16);
OFFSET(edo_deadline, edo_outer_cut_by_, 24);
OFFSET(edo_deadline, edo_number_, 32);
OFFSET(edo_deadline, edo_outer_number_, 40);
OFFSET(edo_deadline, edo_depth_, 48);
OFFSET(edo_deadline, edo_outer_was_cancelled_, 52);

/* <edo/task.h> */
SIZE(edo_task_wait_future, 32);
ALIGN(edo_task_wait_future, 8);
OFFSET(edo_task_wait_future, future, 0);
OFFSET(edo_task_wait_future, result, 8);
OFFSET(edo_task_wait_future, fate, 12);
OFFSET(edo_task_wait_future, edo_task_, 16);
OFFSET(edo_task_wait_future, edo_registered_, 24);
SIZE(edo_yield_future, 16);
ALIGN(edo_yield_future, 8);
OFFSET(edo_yield_future, future, 0);
OFFSET(edo_yield_future, edo_yielded_, 8);

/* <edo/runtime.h> */
SIZE(edo_enter_guard, 16);
ALIGN(edo_enter_guard, 8);
OFFSET(edo_enter_guard, edo_entered_, 0);
OFFSET(edo_enter_guard, edo_previous_, 8);

/* <edo/config.h> */
SIZE(edo_allocator, 24);
ALIGN(edo_allocator, 8);
OFFSET(edo_allocator, allocate, 0);
OFFSET(edo_allocator, release, 8);
OFFSET(edo_allocator, context, 16);
SIZE(edo_config, 96);
ALIGN(edo_config, 8);
OFFSET(edo_config, size, 0);
OFFSET(edo_config, flavor, 8);
OFFSET(edo_config, clock, 12);
OFFSET(edo_config, disable_io, 16);
OFFSET(edo_config, disable_time, 17);
OFFSET(edo_config, start_paused, 18);
OFFSET(edo_config, timer_resolution, 24);
OFFSET(edo_config, seed, 32);
OFFSET(edo_config, event_interval, 40);
OFFSET(edo_config, global_queue_interval, 44);
OFFSET(edo_config, events_per_turn, 48);
OFFSET(edo_config, stack_size, 56);
OFFSET(edo_config, stack_cache, 64);
OFFSET(edo_config, thread_name, 72);
OFFSET(edo_config, shutdown_timeout, 80);
OFFSET(edo_config, allocator, 88);

/* <edo/time.h> */
SIZE(edo_timer_entry, 48);
ALIGN(edo_timer_entry, 8);
OFFSET(edo_timer_entry, edo_node_, 0);
OFFSET(edo_timer_entry, edo_waker_, 32);
SIZE(edo_timer, 64);
ALIGN(edo_timer, 8);
OFFSET(edo_timer, future, 0);
OFFSET(edo_timer, edo_entry_, 8);
OFFSET(edo_timer, edo_deadline_, 56);
SIZE(edo_timeout_future, 88);
ALIGN(edo_timeout_future, 8);
OFFSET(edo_timeout_future, future, 0);
OFFSET(edo_timeout_future, result, 8);
OFFSET(edo_timeout_future, edo_inner_, 16);
OFFSET(edo_timeout_future, edo_timer_, 24);
SIZE(edo_interval, 80);
ALIGN(edo_interval, 8);
OFFSET(edo_interval, edo_timer_, 0);
OFFSET(edo_interval, edo_period_, 64);
OFFSET(edo_interval, edo_missed_, 72);
SIZE(edo_interval_future, 32);
ALIGN(edo_interval_future, 8);
OFFSET(edo_interval_future, future, 0);
OFFSET(edo_interval_future, result, 8);
OFFSET(edo_interval_future, at, 16);
OFFSET(edo_interval_future, edo_interval_, 24);

/* <edo/select.h> */
SIZE(edo_select_future, 64);
ALIGN(edo_select_future, 8);
OFFSET(edo_select_future, future, 0);
OFFSET(edo_select_future, result, 8);
OFFSET(edo_select_future, winner, 12);
OFFSET(edo_select_future, edo_futures_, 16);
OFFSET(edo_select_future, edo_few_, 24);
OFFSET(edo_select_future, edo_count_, 56);
OFFSET(edo_select_future, edo_is_sound_, 60);
OFFSET(edo_select_future, edo_is_in_order_, 61);
SIZE(edo_join_all_future, 64);
ALIGN(edo_join_all_future, 8);
OFFSET(edo_join_all_future, future, 0);
OFFSET(edo_join_all_future, result, 8);
OFFSET(edo_join_all_future, edo_count_, 12);
OFFSET(edo_join_all_future, edo_futures_, 16);
OFFSET(edo_join_all_future, edo_results_, 24);
OFFSET(edo_join_all_future, edo_few_, 32);

/* <edo/io.h> */
SIZE(edo_ready, 16);
ALIGN(edo_ready, 8);
OFFSET(edo_ready, events, 0);
OFFSET(edo_ready, read_closed, 4);
OFFSET(edo_ready, write_closed, 5);
OFFSET(edo_ready, error, 6);
OFFSET(edo_ready, edo_seen_, 8);
SIZE(edo_async_fd, 24);
ALIGN(edo_async_fd, 4);
OFFSET(edo_async_fd, edo_driver_, 0);
OFFSET(edo_async_fd, edo_index_, 4);
OFFSET(edo_async_fd, edo_generation_, 8);
OFFSET(edo_async_fd, edo_epoch_, 12);
OFFSET(edo_async_fd, edo_fd_, 16);
OFFSET(edo_async_fd, edo_interest_, 20);
SIZE(edo_async_fd_future, 56);
ALIGN(edo_async_fd_future, 8);
OFFSET(edo_async_fd_future, future, 0);
OFFSET(edo_async_fd_future, result, 8);
OFFSET(edo_async_fd_future, edo_interest_, 12);
OFFSET(edo_async_fd_future, edo_claimed_, 14);
OFFSET(edo_async_fd_future, ready, 16);
OFFSET(edo_async_fd_future, edo_afd_, 32);

/* <edo/net.h> */
SIZE(edo_addr, 32);
ALIGN(edo_addr, 4);
OFFSET(edo_addr, sockaddr, 0);
OFFSET(edo_addr, len, 28);
SIZE(edo_tcp, 24);
ALIGN(edo_tcp, 4);
OFFSET(edo_tcp, edo_driver_, 0);
OFFSET(edo_tcp, edo_index_, 4);
OFFSET(edo_tcp, edo_generation_, 8);
OFFSET(edo_tcp, edo_epoch_, 12);
OFFSET(edo_tcp, edo_fd_, 16);
OFFSET(edo_tcp, edo_half_, 20);
SIZE(edo_tcp_listener, 20);
ALIGN(edo_tcp_listener, 4);
OFFSET(edo_tcp_listener, edo_driver_, 0);
OFFSET(edo_tcp_listener, edo_index_, 4);
OFFSET(edo_tcp_listener, edo_generation_, 8);
OFFSET(edo_tcp_listener, edo_epoch_, 12);
OFFSET(edo_tcp_listener, edo_fd_, 16);
SIZE(edo_listen_options, 24);
ALIGN(edo_listen_options, 8);
OFFSET(edo_listen_options, size, 0);
OFFSET(edo_listen_options, backlog, 8);
OFFSET(edo_listen_options, reuse_port, 12);
OFFSET(edo_listen_options, v6_only, 13);
OFFSET(edo_listen_options, send_buffer, 16);
OFFSET(edo_listen_options, receive_buffer, 20);
SIZE(edo_tcp_accept_future, 128);
ALIGN(edo_tcp_accept_future, 8);
OFFSET(edo_tcp_accept_future, future, 0);
OFFSET(edo_tcp_accept_future, result, 8);
OFFSET(edo_tcp_accept_future, edo_claimed_, 12);
OFFSET(edo_tcp_accept_future, edo_listener_, 16);
OFFSET(edo_tcp_accept_future, edo_stream_, 40);
OFFSET(edo_tcp_accept_future, edo_peer_, 48);
OFFSET(edo_tcp_accept_future, edo_pause_, 56);
OFFSET(edo_tcp_accept_future, edo_retry_, 64);
SIZE(edo_tcp_connect_future, 80);
ALIGN(edo_tcp_connect_future, 8);
OFFSET(edo_tcp_connect_future, future, 0);
OFFSET(edo_tcp_connect_future, result, 8);
OFFSET(edo_tcp_connect_future, edo_claimed_, 12);
OFFSET(edo_tcp_connect_future, edo_peer_, 16);
OFFSET(edo_tcp_connect_future, edo_attempt_, 48);
OFFSET(edo_tcp_connect_future, edo_stream_, 72);
SIZE(edo_tcp_io, 80);
ALIGN(edo_tcp_io, 8);
OFFSET(edo_tcp_io, future, 0);
OFFSET(edo_tcp_io, result, 8);
OFFSET(edo_tcp_io, done, 16);
OFFSET(edo_tcp_io, edo_stream_, 24);
OFFSET(edo_tcp_io, edo_driver_, 32);
OFFSET(edo_tcp_io, edo_index_, 36);
OFFSET(edo_tcp_io, edo_generation_, 40);
OFFSET(edo_tcp_io, edo_idle_seen_, 44);
OFFSET(edo_tcp_io, edo_iov_, 48);
OFFSET(edo_tcp_io, edo_single_, 56);
OFFSET(edo_tcp_io, edo_iov_count_, 72);
OFFSET(edo_tcp_io, edo_kind_, 76);
OFFSET(edo_tcp_io, edo_has_begun_, 77);
OFFSET(edo_tcp_io, edo_is_claimed_, 78);
OFFSET(edo_tcp_io, edo_is_timed_, 79);

/* <edo/sync.h> */
SIZE(edo_sync_wait, 40);
ALIGN(edo_sync_wait, 8);
OFFSET(edo_sync_wait, edo_node_, 0);
OFFSET(edo_sync_wait, edo_waker_, 16);
OFFSET(edo_sync_wait, edo_outcome_, 32);
OFFSET(edo_sync_wait, edo_is_begun_, 36);
SIZE(edo_mpsc_send_future, 72);
ALIGN(edo_mpsc_send_future, 8);
OFFSET(edo_mpsc_send_future, future, 0);
OFFSET(edo_mpsc_send_future, result, 8);
OFFSET(edo_mpsc_send_future, edo_tx_, 16);
OFFSET(edo_mpsc_send_future, edo_item_, 24);
OFFSET(edo_mpsc_send_future, edo_wait_, 32);
SIZE(edo_mpsc_permit, 8);
ALIGN(edo_mpsc_permit, 8);
OFFSET(edo_mpsc_permit, edo_channel_, 0);
SIZE(edo_mpsc_reserve_future, 72);
ALIGN(edo_mpsc_reserve_future, 8);
OFFSET(edo_mpsc_reserve_future, future, 0);
OFFSET(edo_mpsc_reserve_future, result, 8);
OFFSET(edo_mpsc_reserve_future, edo_tx_, 16);
OFFSET(edo_mpsc_reserve_future, edo_permit_, 24);
OFFSET(edo_mpsc_reserve_future, edo_wait_, 32);
SIZE(edo_mpsc_recv_future, 40);
ALIGN(edo_mpsc_recv_future, 8);
OFFSET(edo_mpsc_recv_future, future, 0);
OFFSET(edo_mpsc_recv_future, result, 8);
OFFSET(edo_mpsc_recv_future, edo_is_waiting_, 12);
OFFSET(edo_mpsc_recv_future, edo_rx_, 16);
OFFSET(edo_mpsc_recv_future, edo_items_, 24);
OFFSET(edo_mpsc_recv_future, edo_max_, 32);
SIZE(edo_mpsc_closed_future, 64);
ALIGN(edo_mpsc_closed_future, 8);
OFFSET(edo_mpsc_closed_future, future, 0);
OFFSET(edo_mpsc_closed_future, result, 8);
OFFSET(edo_mpsc_closed_future, edo_tx_, 16);
OFFSET(edo_mpsc_closed_future, edo_wait_, 24);
SIZE(edo_oneshot_recv_future, 32);
ALIGN(edo_oneshot_recv_future, 8);
OFFSET(edo_oneshot_recv_future, future, 0);
OFFSET(edo_oneshot_recv_future, result, 8);
OFFSET(edo_oneshot_recv_future, edo_is_waiting_, 12);
OFFSET(edo_oneshot_recv_future, edo_rx_, 16);
OFFSET(edo_oneshot_recv_future, edo_item_, 24);
SIZE(edo_oneshot_closed_future, 24);
ALIGN(edo_oneshot_closed_future, 8);
OFFSET(edo_oneshot_closed_future, future, 0);
OFFSET(edo_oneshot_closed_future, result, 8);
OFFSET(edo_oneshot_closed_future, edo_is_waiting_, 12);
OFFSET(edo_oneshot_closed_future, edo_tx_, 16);

/* <edo/wheel.h> */
SIZE(edo_wheel_timer, 32);
ALIGN(edo_wheel_timer, 8);
OFFSET(edo_wheel_timer, node, 0);
OFFSET(edo_wheel_timer, when, 16);
OFFSET(edo_wheel_timer, level, 24);
OFFSET(edo_wheel_timer, slot, 25);
OFFSET(edo_wheel_timer, spare16, 26);
OFFSET(edo_wheel_timer, spare32, 28);
SIZE(edo_wheel, 6744);
ALIGN(edo_wheel, 8);
OFFSET(edo_wheel, present, 0);
OFFSET(edo_wheel, dials, 8);
OFFSET(edo_wheel, count, 16);
OFFSET(edo_wheel, occupied, 24);
OFFSET(edo_wheel, cascading, 72);
OFFSET(edo_wheel, top_opens, 88);
OFFSET(edo_wheel, slots, 600);

/* <edo/detail/list_node.h> */
SIZE(edo_list_node, 16);
ALIGN(edo_list_node, 8);
OFFSET(edo_list_node, next, 0);
OFFSET(edo_list_node, prev, 8);

/* What the assertions cannot say: that this program and the library were compiled for the same structs. */
static void an_all_default_configuration_is_one_of_this_size(void **state)
{
	edo_config config = EDO_CONFIG_INIT;

	(void)state;
	assert_int_equal(config.size, sizeof config);
	assert_null(edo_config_bad_field(&config));
}

/* Constants that programs have compiled in. */
static void constants_have_the_values_they_had(void **state)
{
	(void)state;
	assert_int_equal(EDO_READY, 0);
	assert_int_equal(EDO_PENDING, INT_MIN);
	assert_int_equal(EDO_DEFAULT_FLAVOR, 0);
	assert_int_equal(EDO_CURRENT_THREAD, 1);
	assert_int_equal(EDO_MULTI_THREAD, 2);
	assert_int_equal(EDO_CLOCK_MONOTONIC, 0);
	assert_int_equal(EDO_CLOCK_BOOTTIME, 1);
	assert_int_equal(EDO_READABLE, 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(an_all_default_configuration_is_one_of_this_size),
	cmocka_unit_test(constants_have_the_values_they_had),
};

EDO_TEST_MAIN(tests)
