/* pager.h - show a finished report: through the user's pager when it is taller
 * than the terminal, else as it is. */
#ifndef HEATLINE_REPORT_PAGER_H
#define HEATLINE_REPORT_PAGER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "report/style.h"

/* The command that the user's pager is started with ($PAGER, else less), or
 * NULL when the report fits the terminal, there is none, or no pager is
 * wanted ($PAGER empty or "cat"). */
const char *pager_choose(const struct style *style, const char *text, size_t size);

/* Writes the text to standard output, through the command when not NULL (and
 * without it when it cannot be started).  A reader that leaves early is no
 * failure.  Returns 0, or negative with the reason in err. */
int pager_show(const char *command, const char *text, size_t size, struct err *err);

#endif
