/* step_probe.c - walks a process's stack after every single machine instruction.
 *
 *   step_probe PID VERSION RUNTIME CODE_TYPE THREAD_ID STEPS
 *
 * The sampling signal can come between any two instructions, so this is every
 * state it can ever see.  Between two of them the stack may gain one frame,
 * lose one, or stay; whatever else the walker says is a lie.  Prints a summary
 * of "name value" lines, after a line for each of the first lies.
 *
 * The process is stopped with ptrace, says so with a line "attached", and runs
 * on; it is let go after STEPS instructions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "python/code.h"
#include "python/layout.h"
#include "python/walk.h"

#define LIES_SHOWN 10u

struct stack {
	enum walk_result result;
	uint32_t count; /* hidden frames left out */
	struct walk_frame frames[WALK_MAX_FRAMES];
};

struct steps {
	struct mem_reader reader;
	struct py_layout published;
	struct walker walker;
	py_addr tstate;
	struct stack now, before; /* before: the last that was not torn */
	unsigned long long taken, torn, lies, changes, deepest;
};

static struct steps steps;

static void print_name(py_addr code)
{
	static unsigned char buffer[1 << 20];
	struct code_info info;

	if (code_read(&steps.walker, code, buffer, sizeof(buffer), &info))
		printf(" %.*s:%u", (int)info.qualname_size, info.qualname, info.first_line);
	else
		printf(" %#llx?", (unsigned long long)code);
}

static void print_stack(const char *title, const struct stack *stack)
{
	printf("  %s (%d):", title, (int)stack->result);
	for (uint32_t i = 0; i < stack->count && i < 12; i++)
		print_name(stack->frames[i].code);
	printf("%s\n", stack->count > 12 ? " …" : "");
}

/* The stack as the agent would see it: torn when any code object is. */
static void look(struct stack *stack)
{
	static struct walk_scratch scratch;
	static uint32_t identities[WALK_MAX_FRAMES];
	uint32_t count, kept = 0;

	stack->result = walk_thread(&steps.walker, steps.tstate, &scratch, stack->frames, &count);
	code_identities(&steps.walker, stack->frames, count, identities);
	for (uint32_t i = 0; i < count; i++) {
		if (identities[i] == CODE_TORN)
			stack->result = WALK_TORN;
		if (identities[i] != CODE_HIDDEN)
			stack->frames[kept++] = stack->frames[i];
	}
	stack->count = kept;
}

/* Whether b is a without its innermost frame. */
static bool is_caller_of(const struct stack *b, const struct stack *a)
{
	if (b->count + 1 != a->count)
		return false;
	for (uint32_t i = 0; i < b->count; i++) {
		if (b->frames[i].code != a->frames[i + 1].code)
			return false;
	}
	return true;
}

static bool is_same(const struct stack *a, const struct stack *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++) {
		if (a->frames[i].code != b->frames[i].code)
			return false;
	}
	return true;
}

static void check(void)
{
	const struct stack *now = &steps.now, *before = &steps.before;

	look(&steps.now);
	if (now->result == WALK_TORN) {
		steps.torn++;
		return;
	}
	if (!is_same(now, before)) {
		steps.changes++;
		if (steps.taken > 0 && !is_caller_of(now, before) && !is_caller_of(before, now) &&
		    steps.lies++ < LIES_SHOWN) {
			printf("lie after %llu\n", steps.taken);
			print_stack("before", before);
			print_stack("now", now);
		}
		steps.before = steps.now;
	}
	if (now->count > steps.deepest)
		steps.deepest = now->count;
}

static int fail(const char *what)
{
	fprintf(stderr, "step_probe: %s: %s\n", what, strerror(errno));
	return 1;
}

static int setup(pid_t pid, unsigned version, py_addr runtime, py_addr code_type,
		 uint64_t thread_id)
{
	const char *why;

	mem_reader_init_process(&steps.reader, pid);
	steps.walker = (struct walker){ .reader = &steps.reader,
					 .layout = py_layout_known(version),
					 .code_type = code_type };
	if (steps.walker.layout == NULL) {
		if (py_layout_published(&steps.reader, runtime, &steps.published, &why) != 0) {
			fprintf(stderr, "step_probe: %s\n", why);
			return 1;
		}
		steps.walker.layout = &steps.published;
	}
	steps.tstate = walk_find_thread(&steps.walker, runtime, thread_id, 0);
	return steps.tstate == 0 ? fail("no such thread") : 0;
}

static int run(pid_t pid, unsigned long long limit)
{
	int status = 0, signal = 0;

	while (steps.taken < limit) {
		check();
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, signal) != 0 || waitpid(pid, &status, 0) != pid)
			return fail("step");
		if (!WIFSTOPPED(status))
			break;
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		steps.taken++;
	}
	if (WIFSTOPPED(status))
		ptrace(PTRACE_DETACH, pid, 0, 0);
	return 0;
}

int main(int argc, char **argv)
{
	pid_t pid;
	int status;

	if (argc != 7) {
		fprintf(stderr, "usage: step_probe PID VERSION RUNTIME CODE_TYPE THREAD_ID STEPS\n");
		return 2;
	}
	pid = (pid_t)atol(argv[1]);
	if (setup(pid, (unsigned)strtoul(argv[2], NULL, 0), strtoull(argv[3], NULL, 0),
		  strtoull(argv[4], NULL, 0), strtoull(argv[5], NULL, 0)) != 0)
		return 1;
	if (ptrace(PTRACE_ATTACH, pid, 0, 0) != 0 || waitpid(pid, &status, 0) != pid)
		return fail("attach");
	printf("attached\n");
	fflush(stdout);
	if (run(pid, strtoull(argv[6], NULL, 0)) != 0)
		return 1;
	printf("steps %llu\ntorn %llu\nlies %llu\nchanges %llu\ndeepest %llu\n", steps.taken,
	       steps.torn, steps.lies, steps.changes, steps.deepest);
	return 0;
}
