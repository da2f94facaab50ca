/* switch.c - switches C stacks as greenlet does: what lies on the stack is put by,
 * and something else runs in its place, while Python's thread state still leads
 * to what was there. */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define PLACE_BYTES 65536u
#define BLOCK_BYTES (1u << 20)
#define COPIES 300

static char *top; /* of the place on the stack that is used twice */
static ucontext_t here, there;
static char put_by[PLACE_BYTES], from[BLOCK_BYTES], to[BLOCK_BYTES];
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

/* So that what was there is overwritten by calls that have ended. */
static __attribute__((noinline)) void scribble(void)
{
	char room[PLACE_BYTES / 4];
	memset(room, 1, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void in_its_place(void)
{
	for (int i = 0; i < COPIES; i++) {
		scribble();
		copy(to, from, BLOCK_BYTES);
	}
}

/* Calls back; what that calls lies below the top. */
__attribute__((noinline)) void call_below(void (*callback)(void))
{
	char *room = alloca(PLACE_BYTES / 16);
	top = room + PLACE_BYTES / 16;
	callback();
	__asm__ volatile("" : : "r"(room) : "memory");
}

/* Without a call: only the copies in between are what is tried here. */
static void put_back(void)
{
	volatile char *place = top - PLACE_BYTES;
	for (unsigned i = 0; i < PLACE_BYTES; i++)
		place[i] = put_by[i];
}

/* Called from within the callback. */
__attribute__((noinline)) void switch_over(void)
{
	char *room = alloca(2 * PLACE_BYTES); /* our own frame is out of the way */
	__asm__ volatile("" : : "r"(room) : "memory");
	char *place = top - PLACE_BYTES;
	copy(put_by, place, PLACE_BYTES);
	getcontext(&there);
	there.uc_stack.ss_sp = place;
	there.uc_stack.ss_size = PLACE_BYTES;
	there.uc_link = &here;
	makecontext(&there, in_its_place, 0);
	swapcontext(&here, &there);
	put_back();
}
