/* listen.h - a listening socket on the loopback address. */
#ifndef HEATLINE_SERVE_LISTEN_H
#define HEATLINE_SERVE_LISTEN_H

#include <stdint.h>

#include "base/err.h"

/* A socket that listens on 127.0.0.1 at this port (0: one that the system
 * chooses), and the port; or -1 and the reason. */
int listen_on(uint16_t port, uint16_t *bound, struct err *err);

/* As listen_on for the port asked for; 0: the usual one, or the next that is free. */
int listen_near(uint16_t asked, uint16_t usual, uint16_t *bound, struct err *err);

#endif
