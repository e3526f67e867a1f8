/*
 * The address parser on arbitrary text, and the formatter on arbitrary addresses.
 *
 * What is accepted is compared with a second reading of the grammar, taken apart from the other end
 * and with the system's getaddrinfo() for the host. Text and buffers have exactly their size, so that
 * AddressSanitizer sees the first byte read or written past them.
 */
#include "input.h"
#include <arpa/inet.h>
#include <edo/net.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <string.h>

/* What the text says, by the second reading. */
struct reading {
	int family;
	uint8_t bytes[16];
	uint32_t scope;
	uint16_t port;
};

/* Decimal, all of the text, no sign, blank or superfluous zero. */
static bool read_number(const char *text, unsigned long long largest, unsigned long long *number)
{
	char again[24];

	if (strlen(text) > 10)
		return false;
	*number = strtoull(text, NULL, 10);
	snprintf(again, sizeof again, "%llu", *number);
	return strcmp(text, again) == 0 && *number <= largest;
}

static bool read_v4(char *host, struct reading *reading)
{
	unsigned long long number;

	reading->family = AF_INET;
	for (int i = 3; i > 0; i--) {
		char *dot = strrchr(host, '.');

		if (!dot || !read_number(dot + 1, 255, &number))
			return false;
		reading->bytes[i] = (uint8_t)number;
		*dot = 0;
	}
	if (!read_number(host, 255, &number))
		return false;
	reading->bytes[0] = (uint8_t)number;
	return true;
}

static bool read_scope(const char *text, uint32_t *scope)
{
	unsigned long long number;

	if (read_number(text, UINT32_MAX, &number))
		*scope = (uint32_t)number;
	else
		*scope = strlen(text) < IF_NAMESIZE ? if_nametoindex(text) : 0;
	return *scope > 0 || strcmp(text, "0") == 0;
}

/* The system's own reading, of the host without its scope. */
static bool read_v6(char *host, struct reading *reading)
{
	struct addrinfo hints = { .ai_family = AF_INET6, .ai_flags = AI_NUMERICHOST };
	struct addrinfo *found;
	char *percent = strchr(host, '%');

	reading->family = AF_INET6;
	if (percent) {
		*percent = 0;
		if (!read_scope(percent + 1, &reading->scope))
			return false;
	}
	if (!strchr(host, ':') || getaddrinfo(host, NULL, &hints, &found) != 0)
		return false;
	memcpy(reading->bytes, &((struct sockaddr_in6 *)(void *)found->ai_addr)->sin6_addr, 16);
	freeaddrinfo(found);
	return true;
}

/* Destroys the text. */
static bool read_all(char *text, struct reading *reading)
{
	char *colon = strrchr(text, ':');
	unsigned long long port;

	if (!colon || !read_number(colon + 1, 65535, &port))
		return false;
	reading->port = (uint16_t)port;
	*colon = 0;
	if (text[0] != '[')
		return read_v4(text, reading);
	if (colon - text < 2 || colon[-1] != ']')
		return false;
	colon[-1] = 0;
	return !strchr(text, ']') && read_v6(text + 1, reading);
}

static void expect_same(const edo_addr *addr, const struct reading *reading)
{
	EXPECT(addr->sockaddr.any.sa_family == reading->family);
	EXPECT(edo_addr_port(addr) == reading->port);
	if (reading->family == AF_INET) {
		EXPECT(addr->len == sizeof addr->sockaddr.v4);
		EXPECT(memcmp(&addr->sockaddr.v4.sin_addr, reading->bytes, 4) == 0);
		return;
	}
	EXPECT(addr->len == sizeof addr->sockaddr.v6);
	EXPECT(memcmp(&addr->sockaddr.v6.sin6_addr, reading->bytes, 16) == 0);
	EXPECT(addr->sockaddr.v6.sin6_scope_id == reading->scope);
	EXPECT(addr->sockaddr.v6.sin6_flowinfo == 0);
}

static char *copy_text(const void *text, size_t len)
{
	char *copy = malloc(len + 1);

	EXPECT(copy);
	if (len > 0)
		memcpy(copy, text, len);
	copy[len] = 0;
	return copy;
}

/* The text fits exactly, and in a buffer that is one too short nothing is touched. */
static char *format(const edo_addr *addr)
{
	char longest[EDO_ADDR_TEXT_MAX];
	int len = edo_addr_format(addr, longest, sizeof longest);
	char *text;

	EXPECT(len > 0 && len < EDO_ADDR_TEXT_MAX && strlen(longest) == (size_t)len);
	text = copy_text("", 0);
	EXPECT(edo_addr_format(addr, text, 0) == -ENOSPC && text[0] == 0);
	free(text);
	text = malloc((size_t)len + 1);
	EXPECT(text);
	text[0] = 'x';
	EXPECT(edo_addr_format(addr, text, (size_t)len) == -ENOSPC && text[0] == 'x');
	EXPECT(edo_addr_format(addr, text, (size_t)len + 1) == len);
	EXPECT(strcmp(text, longest) == 0);
	return text;
}

static void expect_round_trip(const edo_addr *addr)
{
	char *text = format(addr);
	edo_addr again;

	EXPECT(edo_addr_parse(&again, text) == 0);
	EXPECT(again.len == addr->len);
	EXPECT(memcmp(&again.sockaddr, &addr->sockaddr, addr->len) == 0);
	free(text);
}

static void try_text(const struct input *input)
{
	char *text = copy_text(input->data, input->left);
	struct reading reading;
	edo_addr addr, before;
	int rc;

	memset(&reading, 0, sizeof reading);
	memset(&addr, 0x5a, sizeof addr);
	before = addr;
	rc = edo_addr_parse(&addr, text);
	EXPECT(rc == 0 || rc == -EINVAL);
	EXPECT((rc == 0) == read_all(text, &reading));
	if (rc == 0) {
		expect_same(&addr, &reading);
		expect_round_trip(&addr);
	} else {
		/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): no byte may have changed. */
		EXPECT(memcmp(&addr, &before, sizeof addr) == 0);
	}
	free(text);
}

static void try_address(struct input *input)
{
	bool is_v4 = input_below(input, 2) == 0;
	uint16_t port = htons((uint16_t)input_draw(input, 2));
	uint32_t scope = (uint32_t)input_draw(input, 4);
	edo_addr addr;
	uint8_t *bytes;

	memset(&addr, 0, sizeof addr);
	addr.sockaddr.any.sa_family = is_v4 ? AF_INET : AF_INET6;
	addr.len = is_v4 ? sizeof addr.sockaddr.v4 : sizeof addr.sockaddr.v6;
	if (is_v4) {
		addr.sockaddr.v4.sin_port = port;
		bytes = (uint8_t *)&addr.sockaddr.v4.sin_addr;
	} else {
		addr.sockaddr.v6.sin6_port = port;
		addr.sockaddr.v6.sin6_scope_id = scope;
		bytes = addr.sockaddr.v6.sin6_addr.s6_addr;
	}
	for (int i = 0; i < (is_v4 ? 4 : 16); i++)
		bytes[i] = (uint8_t)input_draw(input, 1);
	expect_round_trip(&addr);
}

/* A first byte of 0 stands for an address in bytes; it could not begin a text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	if (size > 0 && data[0] == 0) {
		(void)input_draw(&input, 1);
		try_address(&input);
	} else {
		try_text(&input);
	}
	return 0;
}
