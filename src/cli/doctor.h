/* doctor.h - what was found out about this machine, check by check.
 *
 * A check is one line for people: its name, how it stands, what that means, and, where
 * something is missing, the one line to type that changes it.  Programs get the same
 * with facts beside it: names and values, none of them a secret.
 *
 *	struct doctor_check *check = doctor_add(doctor, "page");
 *	if (mhd_open(&err))
 *		doctor_blame(check, DOCTOR_NO, &err);
 *	else
 *		doctor_say(check, DOCTOR_OK, "'heatline view' can serve it");
 *
 * The checks themselves (the functions at the end) do what they speak of, by the same functions
 * as the commands that need it, and leave nothing behind. */
#ifndef HEATLINE_CLI_DOCTOR_H
#define HEATLINE_CLI_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct trial;

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* works, with less */
	DOCTOR_NO,
	DOCTOR_NOTE,    /* neither good nor bad */
};

#define DOCTOR_TEXT_BYTES 512
#define DOCTOR_FACTS_MAX 10u
#define DOCTOR_CHECKS_MAX 16u

/* For programs. */
struct doctor_fact {
	const char *name; /* static */
	enum { FACT_TEXT, FACT_NUMBER, FACT_TRUTH } kind;
	char text[DOCTOR_TEXT_BYTES];
	double number; /* FACT_TRUTH: 0 or 1 */
};

struct doctor_check {
	const char *name; /* static; words joined by '_', as programs want them */
	enum doctor_state state;
	char text[DOCTOR_TEXT_BYTES]; /* no capital, no full stop */
	char fix[DOCTOR_TEXT_BYTES];  /* what to type; "": nothing */
	struct doctor_fact facts[DOCTOR_FACTS_MAX];
	uint32_t fact_count;
};

struct doctor {
	struct doctor_check checks[DOCTOR_CHECKS_MAX]; /* in the order of the report */
	uint32_t count;
};

/* The next check. */
struct doctor_check *doctor_add(struct doctor *doctor, const char *name);

/* The check of this name; NULL: it was not made. */
const struct doctor_check *doctor_find(const struct doctor *doctor, const char *name);

/* How it stands.  What names and paths bring along that no terminal should see is replaced. */
void doctor_say(struct doctor_check *check, enum doctor_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void doctor_fix(struct doctor_check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Says the sentence of an error.  Those end with what to do, after a semicolon: that is the fix,
 * or what follows its colon, as in "…; type: sudo …". */
void doctor_blame(struct doctor_check *check, enum doctor_state state, const struct err *err);

/* The package that has what is missing: the line that installs it on Debian and its relatives, a word
 * elsewhere. */
void doctor_fix_package(struct doctor_check *check, const char *debian, const char *library);

void doctor_fact_text(struct doctor_check *check, const char *name, const char *text);
void doctor_fact_number(struct doctor_check *check, const char *name, double number);
void doctor_fact_truth(struct doctor_check *check, const char *name, bool is_so);

/* Whether 'heatline run' works. */
bool doctor_works(const struct doctor *doctor);

void doctor_print(FILE *stream, const struct doctor *doctor);
void doctor_print_json(FILE *stream, const struct doctor *doctor);

/* ---- the checks ---- */

/* doctor_python.c: by a small program that was run plain and profiled. */
void doctor_check_python(struct doctor *doctor, const struct trial *trial);
void doctor_check_run(struct doctor *doctor, const struct trial *trial);
void doctor_check_waiting(struct doctor *doctor, const struct trial *trial);
void doctor_check_memory(struct doctor *doctor, const struct trial *trial);

/* doctor_machine.c: what the kernel permits, and what the machine has. */
void doctor_check_clock(struct doctor *doctor);
void doctor_check_attach(struct doctor *doctor);
void doctor_check_shared_memory(struct doctor *doctor);
void doctor_check_gpu(struct doctor *doctor, const struct trial *trial);
void doctor_check_left_behind(struct doctor *doctor);

/* Whether there is a GPU that programs can use. */
bool doctor_has_gpu(void);

/* doctor_page.c: what shows a profile, and who can be asked about it. */
void doctor_check_page(struct doctor *doctor);
void doctor_check_browser(struct doctor *doctor);
void doctor_check_suggest(struct doctor *doctor);

#endif
