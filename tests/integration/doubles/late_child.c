/* late_child.c - children of a fork begin late, as on a machine with much to do.  To be
 * preloaded: what is registered first is called first. */
#include <pthread.h>
#include <unistd.h>

#define LATE_US 500000u

static void be_late(void)
{
	usleep(LATE_US);
}

static __attribute__((constructor)) void begin(void)
{
	pthread_atfork(NULL, NULL, be_late);
}
