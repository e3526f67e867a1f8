/*
 * What a process holds besides memory: descriptors and threads, as /proc/self tells.
 */
#ifndef EDO_TESTS_SUPPORT_RESOURCES_H
#define EDO_TESTS_SUPPORT_RESOURCES_H

#define EDO_TEST_MOST_DESCRIPTORS 65536

struct edo_test_resources {
	/* one bit each; descriptors past the last are not looked at */
	unsigned char descriptors[EDO_TEST_MOST_DESCRIPTORS / 8];
	int threads;
};

void edo_test_resources_take(struct edo_test_resources *resources);

/* Says on stderr what differs between then and now; returns how many things do. */
int edo_test_resources_compare(const struct edo_test_resources *before);

#endif
