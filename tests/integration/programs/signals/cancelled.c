/* Threads that end with a cancellation on its way, which nothing of theirs hears any more. */
#include <pthread.h>
#include <stddef.h>

static void *cancels_itself(void *result)
{
	pthread_cancel(pthread_self());
	return result;
}

static void *does_nothing(void *result)
{
	return result;
}

static long result_of(void *(*start)(void *), long wanted)
{
	pthread_t thread;
	void *result = NULL;
	if (pthread_create(&thread, NULL, start, (void *)wanted) != 0 ||
	    pthread_join(thread, &result) != 0)
		return -1;
	return (long)result;
}

/* 7 threads that are cancelled, and 7 behind them; how many had their own result. */
int cancelled(void)
{
	int own = 0;
	for (long i = 1; i <= 7; i++)
		own += (result_of(cancels_itself, i) == i) + (result_of(does_nothing, i) == i);
	return own;
}
