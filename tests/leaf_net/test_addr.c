/* Addresses: what is read, what is written, and what is neither. */
#include "support/runner.h"
#include <arpa/inet.h>
#include <edo/edo.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

static const char *const good[] = {
	"127.0.0.1:80",
	"0.0.0.0:0",
	"255.255.255.255:65535",
	"[::]:0",
	"[::1]:443",
	"[2001:db8::1:2]:65535",
	"[fe80::1%4294967295]:80",
	"[::ffff:1.2.3.4]:7",
	"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535",
};

static const char *const bad[] = {
	"",
	":",
	":80",
	"127.0.0.1",
	"127.0.0.1:",
	"127.0.0.1:65536",
	"127.0.0.1:99999",
	"127.0.0.1:4294967376",
	"127.0.0.1:18446744073709551696",
	"127.0.0.1:-1",
	"127.0.0.1:+1",
	"127.0.0.1: 1",
	"127.0.0.1:1 ",
	" 127.0.0.1:1",
	"127.0.0.1:080",
	"127.0.0.1:0x50",
	"127.0.0.1:80:80",
	"127.0.0.1:http",
	"127.0.0.1:80/",
	"127.0.0.1.:80",
	"127.0.0:80",
	"127.0.0.1.1:80",
	"127.0.0.256:80",
	"127.0.0.01:80",
	"1.2.3.4000000000000000000000:80",
	"localhost:80",
	"example.org:80",
	"*:80",
	"::1:80",
	"::1",
	"[::1]",
	"[::1]:",
	"[::1]80",
	"[::1] :80",
	"[::1:80",
	"::1]:80",
	"[]:80",
	"[127.0.0.1]:80",
	"[::1]:65536",
	"[::g]:80",
	"[:::]:80",
	"[1:2:3:4:5:6:7:8:9]:80",
	"[[::1]]:80",
	"[fe80::1%]:80",
	"[fe80::1%4294967296]:80",
	"[fe80::1%-1]:80",
	"[fe80::1%no-such-if]:80",
	"[fe80::1%a-name-that-is-too-long-for-any-interface-of-the-system]:80",
	"[%1]:80",
};

static void what_is_written_was_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		char text[EDO_ADDR_TEXT_MAX];
		edo_addr addr;

		assert_int_equal(edo_addr_parse(&addr, good[i]), 0);
		assert_int_equal(edo_addr_format(&addr, text, sizeof text), strlen(good[i]));
		assert_string_equal(text, good[i]);
	}
}

static void what_is_no_address_is_refused_and_changes_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		edo_addr addr, before;

		memset(&addr, 0x5a, sizeof addr);
		before = addr;
		if (edo_addr_parse(&addr, bad[i]) != -EINVAL)
			fail_msg("\"%s\" was taken for an address", bad[i]);
		assert_memory_equal(&addr, &before, sizeof addr);
	}
	assert_int_equal(edo_addr_parse(&(edo_addr){ .len = 0 }, NULL), -EINVAL);
}

static void the_parts_are_where_the_system_wants_them(void **state)
{
	edo_addr addr;

	(void)state;
	assert_int_equal(edo_addr_parse(&addr, "1.2.3.4:513"), 0);
	assert_int_equal(addr.len, sizeof(struct sockaddr_in));
	assert_int_equal(addr.sockaddr.v4.sin_family, AF_INET);
	assert_int_equal(addr.sockaddr.v4.sin_addr.s_addr, htonl(0x01020304));
	assert_int_equal(addr.sockaddr.v4.sin_port, htons(513));
	assert_int_equal(edo_addr_port(&addr), 513);

	assert_int_equal(edo_addr_parse(&addr, "[::1]:514"), 0);
	assert_int_equal(addr.len, sizeof(struct sockaddr_in6));
	assert_int_equal(addr.sockaddr.v6.sin6_family, AF_INET6);
	assert_memory_equal(&addr.sockaddr.v6.sin6_addr, &in6addr_loopback, 16);
	assert_int_equal(edo_addr_port(&addr), 514);
	assert_int_equal(addr.sockaddr.v6.sin6_scope_id, 0);
}

static void a_scope_may_be_an_interface_by_name(void **state)
{
	unsigned loopback = if_nametoindex("lo");
	edo_addr addr;

	(void)state;
	if (loopback == 0)
		skip();
	assert_int_equal(edo_addr_parse(&addr, "[fe80::1%lo]:80"), 0);
	assert_int_equal(addr.sockaddr.v6.sin6_scope_id, loopback);
}

static void the_longest_text_fits_and_a_short_buffer_is_left_alone(void **state)
{
	char text[EDO_ADDR_TEXT_MAX];
	edo_addr addr;
	int len;

	(void)state;
	assert_int_equal(
		edo_addr_parse(&addr, "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff%4294967295]:65535"),
		0);
	len = edo_addr_format(&addr, text, sizeof text);
	assert_true(len > 0 && len < EDO_ADDR_TEXT_MAX);
	memset(text, 'x', sizeof text);
	assert_int_equal(edo_addr_format(&addr, text, (size_t)len), -ENOSPC);
	assert_int_equal(edo_addr_format(&addr, text, 0), -ENOSPC);
	assert_int_equal(text[0], 'x');
	assert_int_equal(edo_addr_format(&addr, text, (size_t)len + 1), len);
}

static void another_family_has_neither_text_nor_port(void **state)
{
	edo_addr addr;
	char text[EDO_ADDR_TEXT_MAX];

	(void)state;
	memset(&addr, 0, sizeof addr);
	addr.sockaddr.any.sa_family = AF_UNIX;
	assert_int_equal(edo_addr_format(&addr, text, sizeof text), -EINVAL);
	assert_int_equal(edo_addr_port(&addr), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(what_is_written_was_read),
	cmocka_unit_test(what_is_no_address_is_refused_and_changes_nothing),
	cmocka_unit_test(the_parts_are_where_the_system_wants_them),
	cmocka_unit_test(a_scope_may_be_an_interface_by_name),
	cmocka_unit_test(the_longest_text_fits_and_a_short_buffer_is_left_alone),
	cmocka_unit_test(another_family_has_neither_text_nor_port),
};

EDO_TEST_MAIN(tests)
