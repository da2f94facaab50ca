/* descriptors.h - what our helper processes do not keep of the user's files.
 *
 * A pipe or lock that the user's shell has given to heatline is meant for the
 * program: while a helper holds it too, whoever waits for its end waits for us. */
#ifndef HEATLINE_COLLECT_DESCRIPTORS_H
#define HEATLINE_COLLECT_DESCRIPTORS_H

/* Closes every descriptor but these (any order; negative ones are passed over). */
void descriptors_close_all_but(const int *kept, unsigned count);

/* Makes this descriptor lead nowhere. */
void descriptors_silence(int fd);

/* For the start of main: those of the three standard descriptors that are closed are taken, so
 * that no file of ours becomes one of them.  They fail like closed ones when read from or
 * written to, and are closed again in what is executed. */
void descriptors_take_standard(void);

#endif
