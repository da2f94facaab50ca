/* doctor.c - the list of checks, for people and for programs. */
#include "cli/doctor.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/json_out.h"
#include "cli/help.h"
#include "report/style.h"

#define NAME_AT 11 /* columns: where the names begin … */
#define INDENT 25  /* … and the sentences */
#define MAX_COLUMNS 100

static const char *const state_words[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_LIMITED] = "limited",
	[DOCTOR_NO] = "no",
	[DOCTOR_NOTE] = "-",
};

static const enum paint state_paints[] = {
	[DOCTOR_OK] = PAINT_STRING,
	[DOCTOR_LIMITED] = PAINT_WARNING,
	[DOCTOR_NO] = PAINT_HOTTEST,
	[DOCTOR_NOTE] = PAINT_DIM,
};

/* ---- finding ---- */

struct doctor_check *doctor_add(struct doctor *doctor, const char *name)
{
	assert(doctor->count < DOCTOR_CHECKS_MAX);
	struct doctor_check *check = &doctor->checks[doctor->count++];

	memset(check, 0, sizeof(*check));
	check->name = name;
	return check;
}

const struct doctor_check *doctor_find(const struct doctor *doctor, const char *name)
{
	for (uint32_t i = 0; i < doctor->count; i++) {
		if (strcmp(doctor->checks[i].name, name) == 0)
			return &doctor->checks[i];
	}
	return NULL;
}

/* Escape sequences begin with such a character; lines stay lines. */
static void clean(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}

void doctor_say(struct doctor_check *check, enum doctor_state state, const char *format, ...)
{
	va_list arguments;

	check->state = state;
	va_start(arguments, format);
	vsnprintf(check->text, sizeof(check->text), format, arguments);
	va_end(arguments);
	clean(check->text);
}

void doctor_fix(struct doctor_check *check, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(check->fix, sizeof(check->fix), format, arguments);
	va_end(arguments);
	clean(check->fix);
}

/* The last place of the words in the text; NULL: they are not in it. */
static const char *find_last(const char *text, const char *words)
{
	const char *last = NULL;

	for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
		last = at;
	return last;
}

void doctor_blame(struct doctor_check *check, enum doctor_state state, const struct err *err)
{
	const char *remedy = find_last(err->message, "; ");
	const char *line = remedy ? find_last(remedy, ": ") : NULL;
	size_t size = remedy ? (size_t)(remedy - err->message) : strlen(err->message);

	doctor_say(check, state, "%.*s", (int)size, err->message);
	doctor_fix(check, "%s", line ? line + 2 : remedy ? remedy + 2 : "");
}

void doctor_fix_package(struct doctor_check *check, const char *debian, const char *library)
{
	const char *sudo = geteuid() == 0 ? "" : "sudo ";

	if (access("/etc/debian_version", F_OK) == 0)
		doctor_fix(check, "%sapt-get install %s", sudo, debian);
	else
		doctor_fix(check, "install the package that has %s", library);
}

static struct doctor_fact *add_fact(struct doctor_check *check, const char *name)
{
	assert(check->fact_count < DOCTOR_FACTS_MAX);
	struct doctor_fact *fact = &check->facts[check->fact_count++];

	fact->name = name;
	return fact;
}

void doctor_fact_text(struct doctor_check *check, const char *name, const char *text)
{
	struct doctor_fact *fact = add_fact(check, name);

	fact->kind = FACT_TEXT;
	snprintf(fact->text, sizeof(fact->text), "%s", text);
}

void doctor_fact_number(struct doctor_check *check, const char *name, double number)
{
	struct doctor_fact *fact = add_fact(check, name);

	fact->kind = FACT_NUMBER;
	fact->number = number;
}

void doctor_fact_truth(struct doctor_check *check, const char *name, bool is_so)
{
	struct doctor_fact *fact = add_fact(check, name);

	fact->kind = FACT_TRUTH;
	fact->number = is_so;
}

/* Both are made whatever happens; an interpreter that is not there is none that works. */
bool doctor_works(const struct doctor *doctor)
{
	const struct doctor_check *python = doctor_find(doctor, "python");
	const struct doctor_check *run = doctor_find(doctor, "run");

	return python && run && python->state != DOCTOR_NO && run->state != DOCTOR_NO;
}

/* ---- telling ---- */

static void print_check(FILE *stream, const struct style *style, const struct doctor_check *check)
{
	int columns = !style->is_cut || style->columns > MAX_COLUMNS ? MAX_COLUMNS
								     : (int)style->columns;
	const char *word = state_words[check->state];

	fputs("  ", stream);
	style_print(stream, style, state_paints[check->state], word);
	fprintf(stream, "%*s", NAME_AT - 2 - (int)strlen(word), "");
	for (const char *at = check->name; *at; at++)
		fputc(*at == '_' ? ' ' : *at, stream);
	fprintf(stream, "%*s", INDENT - NAME_AT - (int)strlen(check->name), "");
	help_print_wrapped(stream, columns, check->text, INDENT, INDENT);
	if (!check->fix[0])
		return;
	/* Never broken into lines: it is there to be copied. */
	fprintf(stream, "%*s", INDENT, "");
	style_print(stream, style, PAINT_DIM, check->state == DOCTOR_NOTE ? "type: " : "fix: ");
	style_print(stream, style, PAINT_STRONG, check->fix);
	fputc('\n', stream);
}

static uint32_t count_state(const struct doctor *doctor, enum doctor_state state)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < doctor->count; i++)
		count += doctor->checks[i].state == state;
	return count;
}

static void print_verdict(FILE *stream, const struct style *style, const struct doctor *doctor)
{
	uint32_t less = count_state(doctor, DOCTOR_LIMITED) + count_state(doctor, DOCTOR_NO);

	if (!doctor_works(doctor))
		style_print(stream, style, PAINT_HOTTEST, "heatline run does not work here");
	else
		style_print(stream, style, PAINT_STRONG, "heatline run works here");
	if (doctor_works(doctor) && less)
		fprintf(stream, "; %u of %u checks found less than there could be", less, doctor->count);
	fputs(".\n", stream);
}

void doctor_print(FILE *stream, const struct doctor *doctor)
{
	struct style style;

	style_init(&style, fileno(stream), STYLE_COLOR_AUTO);
	for (uint32_t i = 0; i < doctor->count; i++)
		print_check(stream, &style, &doctor->checks[i]);
	fputc('\n', stream);
	print_verdict(stream, &style, doctor);
}

static void put_fact(struct json_out *out, const struct doctor_fact *fact)
{
	if (fact->kind == FACT_TEXT)
		json_put_text(out, fact->name, fact->text);
	else if (fact->kind == FACT_NUMBER)
		json_put_number(out, fact->name, fact->number, 6);
	else
		json_put_bool(out, fact->name, fact->number != 0);
}

static void put_check(struct json_out *out, const struct doctor_check *check)
{
	json_put_newline(out);
	json_begin_object(out, NULL);
	json_put_text(out, "name", check->name);
	json_put_text(out, "state", check->state == DOCTOR_NOTE ? "note" : state_words[check->state]);
	json_put_text(out, "text", check->text);
	json_put_text(out, "fix", check->fix[0] ? check->fix : NULL);
	json_begin_object(out, "facts");
	for (uint32_t i = 0; i < check->fact_count; i++)
		put_fact(out, &check->facts[i]);
	json_end_object(out);
	json_end_object(out);
}

void doctor_print_json(FILE *stream, const struct doctor *doctor)
{
	struct json_out out;

	json_out_init(&out, stream);
	json_begin_object(&out, NULL);
	json_put_text(&out, "version", HEATLINE_VERSION);
	json_put_bool(&out, "works", doctor_works(doctor));
	json_begin_array(&out, "checks");
	for (uint32_t i = 0; i < doctor->count; i++)
		put_check(&out, &doctor->checks[i]);
	json_end_array(&out);
	json_end_object(&out);
	fputc('\n', stream);
}
