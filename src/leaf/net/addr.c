/*
 * Socket addresses and their text: numeric only, strict, and no system call but the look-up of an
 * interface's name. What edo_addr_format() writes, edo_addr_parse() reads.
 *
 * The form is "a.b.c.d:port" or "[v6%scope]:port". A number has no sign, no blank, no
 * superfluous zero. Pure functions; any thread.
 */
#include "base/sys.h"
#include "leaf/net/net.h"
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

enum { PORT_MAX = 65535, NUMBER_DIGITS_MAX = 10 };

/* A number without sign, blank or superfluous zero, all of the text. False when it is none. */
static bool parse_number(const char *text, uint64_t largest, uint64_t *number)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t value = 0;

	if (digits == 0 || digits > NUMBER_DIGITS_MAX || text[digits] != 0 ||
	    (text[0] == '0' && digits > 1))
		return false;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	*number = value;
	return value <= largest;
}

static bool parse_port(const char *text, in_port_t *port)
{
	uint64_t number;

	if (!parse_number(text, PORT_MAX, &number))
		return false;
	*port = htons((uint16_t)number);
	return true;
}

/* A number, or the name of an interface that is there. */
static bool parse_scope(const char *text, uint32_t *scope)
{
	uint64_t number;
	int index;

	if (parse_number(text, UINT32_MAX, &number)) {
		*scope = (uint32_t)number;
		return true;
	}
	if (*text == 0 || strlen(text) >= IF_NAMESIZE)
		return false;
	index = edo_sys_interface_index(text);
	*scope = index > 0 ? (uint32_t)index : 0;
	return index > 0;
}

/* Copies the text before `end` into buf as a string of its own. */
static bool cut(char *buf, size_t size, const char *text, const char *end)
{
	size_t len = (size_t)(end - text);

	if (len >= size)
		return false;
	memcpy(buf, text, len);
	buf[len] = 0;
	return true;
}

static bool parse_v4(edo_addr *addr, const char *text)
{
	char host[INET_ADDRSTRLEN];
	const char *colon = strchr(text, ':');
	struct sockaddr_in *v4 = &addr->sockaddr.v4;

	v4->sin_family = AF_INET;
	addr->len = sizeof *v4;
	return colon && cut(host, sizeof host, text, colon) &&
	       inet_pton(AF_INET, host, &v4->sin_addr) == 1 && parse_port(colon + 1, &v4->sin_port);
}

/* `text` is what stands behind the opening bracket. */
static bool parse_v6(edo_addr *addr, const char *text)
{
	char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
	const char *bracket = strchr(text, ']');
	struct sockaddr_in6 *v6 = &addr->sockaddr.v6;
	char *percent;

	if (!bracket || bracket[1] != ':' || !cut(host, sizeof host, text, bracket))
		return false;
	percent = strchr(host, '%');
	if (percent)
		*percent = 0;
	v6->sin6_family = AF_INET6;
	addr->len = sizeof *v6;
	return inet_pton(AF_INET6, host, &v6->sin6_addr) == 1 &&
	       (!percent || parse_scope(percent + 1, &v6->sin6_scope_id)) &&
	       parse_port(bracket + 2, &v6->sin6_port);
}

int edo_addr_parse(edo_addr *addr, const char *text)
{
	edo_addr parsed;
	bool is_good;

	if (!text)
		return -EINVAL;
	memset(&parsed, 0, sizeof parsed);
	is_good = text[0] == '[' ? parse_v6(&parsed, text + 1) : parse_v4(&parsed, text);
	if (!is_good)
		return -EINVAL;
	*addr = parsed;
	return 0;
}

static int write_v6(const struct sockaddr_in6 *v6, char *text, size_t size)
{
	char host[INET6_ADDRSTRLEN];

	if (!inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host))
		return -EINVAL;
	if (v6->sin6_scope_id)
		return snprintf(text, size, "[%s%%%u]:%u", host, (unsigned)v6->sin6_scope_id,
				(unsigned)ntohs(v6->sin6_port));
	return snprintf(text, size, "[%s]:%u", host, (unsigned)ntohs(v6->sin6_port));
}

static int write_v4(const struct sockaddr_in *v4, char *text, size_t size)
{
	char host[INET_ADDRSTRLEN];

	if (!inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host))
		return -EINVAL;
	return snprintf(text, size, "%s:%u", host, (unsigned)ntohs(v4->sin_port));
}

int edo_addr_format(const edo_addr *addr, char *text, size_t size)
{
	char whole[EDO_ADDR_TEXT_MAX];
	int len = -EINVAL;

	if (addr->sockaddr.any.sa_family == AF_INET)
		len = write_v4(&addr->sockaddr.v4, whole, sizeof whole);
	else if (addr->sockaddr.any.sa_family == AF_INET6)
		len = write_v6(&addr->sockaddr.v6, whole, sizeof whole);
	if (len < 0)
		return -EINVAL;
	if ((size_t)len >= size)
		return -ENOSPC;
	memcpy(text, whole, (size_t)len + 1);
	return len;
}

uint16_t edo_addr_port(const edo_addr *addr)
{
	if (addr->sockaddr.any.sa_family == AF_INET)
		return ntohs(addr->sockaddr.v4.sin_port);
	if (addr->sockaddr.any.sa_family == AF_INET6)
		return ntohs(addr->sockaddr.v6.sin6_port);
	return 0;
}
