/* server.h - `heatline mcp`: profiles for coding agents, over MCP's stdio transport.
 *
 * One JSON-RPC message a line comes in, one goes out, nothing else.  Clients of both eras
 * of the protocol are served: those that begin with `initialize` (up to 2025-11-25), and
 * those that name their version in every request (2026-07-28); how a client opens decides.
 * No state is kept for a client but the handles of profiles.
 *
 * Programs are run only in the folder that the server was started in and below, without a
 * shell, and nothing is written elsewhere but in a folder of the server's own. */
#ifndef HEATLINE_MCP_SERVER_H
#define HEATLINE_MCP_SERVER_H

#include "base/err.h"

struct mcp_options {
	int input, output;    /* descriptors */
	const char *heatline; /* the executable, for runs of its own */
	const char *folder;   /* absolute, links resolved: where programs may run */
};

/* Serves until the input ends or the output is closed.  Returns 0, or negative with the
 * sentence. */
int mcp_serve(const struct mcp_options *options, struct err *err);

#endif
