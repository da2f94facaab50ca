/* figure.h - numbers as a person reads them, and bars.
 *
 * Percentages are whole: a profile of some thousand samples knows no more.
 * What is there but below one percent is "<1%"; nothing at all is "". */
#ifndef HEATLINE_REPORT_FIGURE_H
#define HEATLINE_REPORT_FIGURE_H

#include "profile/model.h"
#include "report/style.h"

/* A short text by value, so that figures can be made inside a call. */
struct figure {
	char text[32];
};

struct figure figure_percent(double part, double whole);

/* The same where nothing is an answer: "0%". */
struct figure figure_share(double part, double whole);

/* A likelihood of 0 to 1: "98%", never quite a hundred. */
struct figure figure_likelihood(double likelihood);

/* "4.21 s", "45 ms", "2.8 h": at most 6 characters below a thousand hours. */
struct figure figure_seconds(double seconds);

/* "85 KB", "3.4 MB", "512 MB", "1.2 GB": at most 6 characters below a thousand
 * TB.  A MB is 1,048,576 bytes, as in the profile's file. */
struct figure figure_bytes(double bytes);

/* "1234": whole MB. */
struct figure figure_megabytes(double bytes);

/* "3,812" */
struct figure figure_count(uint64_t count);

/* Everything of the metrics that counts: Python, native, system and waiting. */
double figure_total(const struct metrics *metrics);

/* The colour of a line that took this share (0 to 1) of the time: red from 5 %,
 * bold from 20 %. */
enum paint figure_heat(double share);

/* Where the time went, in the order of bars, legends and columns. */
enum kind { KIND_PYTHON, KIND_NATIVE, KIND_SYSTEM, KIND_WAIT, KIND_COUNT };

double figure_kind(const struct metrics *metrics, enum kind kind);

/* "■ Python 2.10 s (50%)  ■ native …": the kinds that there is any time of, on
 * lines of their own that begin with `indent` spaces. */
void figure_legend(FILE *out, const struct style *style, const struct metrics *metrics,
		   double whole_s, uint32_t indent);

/* A bar of `cells` cells that is full at `full_s`: one part for each kind;
 * filled up with spaces.  A time above zero shows at least a sliver, and a
 * cell shows the kind that has most of it. */
void figure_bar(FILE *out, const struct style *style, const struct metrics *metrics,
		double full_s, uint32_t cells);

#endif
