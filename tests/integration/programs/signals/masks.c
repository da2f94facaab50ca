/* masks.c - what a native library does with signals: blocks them, waits for them,
 * handles them on a stack of its own, jumps out of a handler, runs threads of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static volatile unsigned sink;
static volatile sig_atomic_t seen, on_stack;
static sigjmp_buf back;
static char *stack;

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void burn(double seconds)
{
	double end = cpu_s() + seconds;

	while (cpu_s() < end)
		for (unsigned i = 0; i < 1000; i++)
			sink += i;
}

/* Blocks everything, works, and returns how many signals are pending or arrive. */
int blocked_work(void)
{
	sigset_t all, before, now, pending;
	struct timespec none = {0, 0};
	int found = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	burn(0.1);
	sigpending(&pending);
	for (int number = 1; number < NSIG; number++)
		found += sigismember(&pending, number) == 1;
	while (sigtimedwait(&all, NULL, &none) > 0)
		found++;
	pthread_sigmask(SIG_SETMASK, &before, &now);
	for (int number = 1; number < NSIG; number++)
		if (number != SIGKILL && number != SIGSTOP && (number < 32 || number > 33))
			found += sigismember(&now, number) != 1;
	return found;
}

static void *blocked_thread(void *result)
{
	*(int *)result = blocked_work();
	return NULL;
}

/* The same in threads that Python never hears of. */
int blocked_threads(void)
{
	pthread_t threads[4];
	int results[4], sum = 0;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, blocked_thread, &results[i]))
			return -1;
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		sum += results[i];
	}
	return sum;
}

static void count(int number)
{
	char here;

	seen++;
	on_stack = stack && &here > stack && &here < stack + 65536;
	sink += (unsigned)number;
}

/* Installs a handler for `number` on its own stack, raises it, puts back what was
 * there.  Returns 1 when all went as the manual says: before was SIG_DFL, the handler
 * ran once, on its stack, and is reported as installed. */
int own_handler(int number)
{
	struct sigaction mine = {.sa_handler = count, .sa_flags = SA_ONSTACK}, before, after;
	stack_t own = {.ss_sp = stack = malloc(65536), .ss_size = 65536}, old;
	int well;

	sigaltstack(&own, &old);
	sigemptyset(&mine.sa_mask);
	seen = 0;
	if (sigaction(number, &mine, &before) < 0)
		return -errno;
	burn(0.02);
	raise(number);
	burn(0.02);
	sigaction(number, &before, &after);
	well = before.sa_handler == SIG_DFL && after.sa_handler == count &&
	       (after.sa_flags & SA_ONSTACK) && seen == 1 && on_stack;
	sigaltstack(&old, NULL);
	free(stack);
	stack = NULL;
	return well;
}

static void jump(int number)
{
	siglongjmp(back, number);
}

/* Recovers from `times` real memory faults by jumping out of the handler. */
int faults(int times)
{
	struct sigaction mine = {.sa_handler = jump}, before;
	volatile int recovered = 0;

	sigemptyset(&mine.sa_mask);
	sigaction(SIGSEGV, &mine, &before);
	for (volatile int i = 0; i < times; i++) {
		if (sigsetjmp(back, 1) == 0)
			*(volatile int *)8 = 1;
		else
			recovered++;
		burn(0.001);
	}
	sigaction(SIGSEGV, &before, NULL);
	return recovered;
}

/* Meets so many breakpoints with a handler of its own. */
int breakpoints(int times)
{
	struct sigaction mine = {.sa_handler = count}, before;

	sigemptyset(&mine.sa_mask);
	sigaction(SIGTRAP, &mine, &before);
	seen = 0;
	for (int i = 0; i < times; i++) {
#if defined(__x86_64__)
		__asm__ volatile("int3");
#else
		raise(SIGTRAP);
#endif
		burn(0.001);
	}
	sigaction(SIGTRAP, &before, NULL);
	return seen;
}

/* Jumps out of a timer's handler `times` times, wherever it struck. */
int jumps(int times)
{
	struct sigaction mine = {.sa_handler = jump}, before;
	struct itimerval timer = {{0, 300}, {0, 300}}, none = {{0, 0}, {0, 0}};
	volatile int jumped = 0;

	sigemptyset(&mine.sa_mask);
	sigaction(SIGALRM, &mine, &before);
	if (sigsetjmp(back, 1))
		jumped++;
	setitimer(ITIMER_REAL, &timer, NULL);
	while (jumped < times)
		sink++;
	setitimer(ITIMER_REAL, &none, NULL);
	sigaction(SIGALRM, &before, NULL);
	return jumped >= times;
}

/* A library's own profiler: a SIGPROF timer at 100 Hz of CPU time for 0.3 s.
 * Returns 1 when ticks came and none were added. */
int own_profiler(void)
{
	struct sigaction mine = {.sa_handler = count, .sa_flags = SA_RESTART}, before;
	struct itimerval timer = {{0, 10000}, {0, 10000}}, old, none = {{0, 0}, {0, 0}};

	sigemptyset(&mine.sa_mask);
	seen = 0;
	sigaction(SIGPROF, &mine, &before);
	setitimer(ITIMER_PROF, &timer, &old);
	burn(0.3);
	setitimer(ITIMER_PROF, &none, NULL);
	sigaction(SIGPROF, &before, NULL);
	return seen > 3 && seen <= 60 && old.it_value.tv_sec == 0 && old.it_value.tv_usec == 0;
}

/* signal(), the old way: what was there before, and again. */
int old_signal(int number)
{
	int well = signal(number, count) == SIG_DFL;

	seen = 0;
	burn(0.02);
	raise(number);
	well = well && signal(number, SIG_IGN) == count && seen == 1;
	raise(number);
	burn(0.02);
	return well && signal(number, SIG_DFL) == SIG_IGN && seen == 1;
}
