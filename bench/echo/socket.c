#include "socket.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { BACKLOG = 4096 };

struct sockaddr_in echo_parse_address(const char *text)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	const char *colon = strchr(text, ':');
	char host[INET_ADDRSTRLEN] = "";

	if (colon && (size_t)(colon - text) < sizeof host)
		memcpy(host, text, (size_t)(colon - text));
	if (!colon || inet_pton(AF_INET, host, &address.sin_addr) != 1) {
		fprintf(stderr, "no address: %s\n", text);
		exit(1);
	}
	address.sin_port = htons((uint16_t)atoi(colon + 1));
	return address;
}

int echo_listen(const char *text)
{
	struct sockaddr_in address = echo_parse_address(text);
	const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
	    listen(fd, BACKLOG) < 0) {
		perror(text);
		exit(1);
	}
	return fd;
}
