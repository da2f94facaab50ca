/* other.c - a program that uses what the agent stands in for: memory, threads, signals. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

static void *work(void *argument)
{
	char *block = malloc(1 << 20);
	memset(block, 1, 1 << 20);
	block = realloc(block, 1 << 21);
	memmove(block + (1 << 20), block, 1 << 20);
	free(block);
	return argument;
}

int main(void)
{
	pthread_t threads[8];
	void *aligned = NULL;
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	raise(SIGUSR1);
	int failed = posix_memalign(&aligned, 4096, 100000);
	char *zero = calloc(1000, 1000);
	void *mapped = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("%d %d %d %d\n", caught == SIGUSR1, failed, zero[999999], mapped != MAP_FAILED);
	munmap(mapped, 1 << 20);
	free(zero);
	free(aligned);
	pid_t child = fork();
	if (child == 0)
		_exit(7);
	return 5;
}
