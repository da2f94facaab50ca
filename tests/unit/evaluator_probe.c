/* evaluator_probe.c - lets the integration tests look at what is known of an interpreter's functions.
 *
 *   evaluator_probe FILE     "START END PART" a line, offsets in the file; status 1: not all is known */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "remote/evaluator.h"

int main(int argc, char **argv)
{
	static const char *const parts[] = { "none", "entering", "loop", "running", "chores", "reading" };
	struct evaluator evaluator;

	if (argc != 2)
		return 2;
	evaluator_read(&evaluator, getpid(), argv[1]);
	for (uint32_t i = 0; i < evaluator.pieces.count; i++) {
		const struct evaluator_piece *piece = &evaluator.pieces.items[i];

		printf("%" PRIu64 " %" PRIu64 " %s\n", piece->start, piece->end, parts[piece->part]);
	}
	int status = evaluator.is_complete ? 0 : 1;
	evaluator_fini(&evaluator);
	return status;
}
