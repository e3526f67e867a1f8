/* For servers without a library that listens for them: IPv4, non-blocking, backlog 4096. */
#ifndef EDO_BENCH_ECHO_SOCKET_H
#define EDO_BENCH_ECHO_SOCKET_H

#include <netinet/in.h>

/* Ends the program with a line on stderr when it cannot be read, or listened at. */
struct sockaddr_in echo_parse_address(const char *text);
int echo_listen(const char *text);

#endif
