/* man.h - the man page heatline(1), made from the option tables. */
#ifndef HEATLINE_CLI_MAN_H
#define HEATLINE_CLI_MAN_H

#include <stdio.h>

/* Prints the page as troff. */
void man_print(FILE *stream);

#endif
