/* units.h - the units in which figures are told.
 *
 * Everything is kept in bytes, and in nanoseconds or seconds; names say which.
 * These turn one into the other. */
#ifndef HEATLINE_BASE_UNITS_H
#define HEATLINE_BASE_UNITS_H

#include <stdint.h>

#define MB (1024.0 * 1024.0) /* bytes; "MB" everywhere, as in Scalene's files */
#define NS 1e-9              /* seconds */
#define SECOND_NS UINT64_C(1000000000)

#endif
