/* fuzz_mcp.c - any bytes as what a client of `heatline mcp` sends.
 *
 * The server's folder does not exist, so that nothing is started or written. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "mcp/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session session;
	struct message_lines lines;
	const char *line;
	size_t line_size;
	bool is_too_long;
	struct mcp_options options = {.input = -1, .output = open("/dev/null", O_WRONLY),
				      .heatline = "/nonexistent/heatline", .folder = "/nonexistent"};
	session_init(&session, &options);
	message_lines_init(&lines);
	message_lines_feed(&lines, (const char *)data, size);
	message_lines_feed(&lines, "\n", 1);
	while (message_lines_next(&lines, &line, &line_size, &is_too_long)) {
		session_take(&session, line, line_size, is_too_long);
		if (session.runs.count || session.jobs.count)
			abort(); /* there is no profile to be had */
	}
	message_lines_fini(&lines);
	session_fini(&session);
	close(options.output);
	return 0;
}
