/*
 * The command line that all echo servers share:
 *
 *     echo-server-NAME [ADDRESS] [IDLE]      127.0.0.1:0 and 30; an idle limit of 0 s is none
 *
 * They run until they are killed, and say nothing: which port a server with port 0 got, /proc tells.
 */
#ifndef EDO_BENCH_ECHO_SERVER_H
#define EDO_BENCH_ECHO_SERVER_H

#include <stdint.h>
#include <stdlib.h>

static inline const char *echo_server_address(int argc, char **argv)
{
	return argc > 1 ? argv[1] : "127.0.0.1:0";
}

/* Seconds. */
static inline uint64_t echo_server_idle(int argc, char **argv)
{
	return argc > 2 ? strtoull(argv[2], NULL, 10) : 30;
}

#endif
