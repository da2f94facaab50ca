/* nameless.c - see nameless.h. */
#include "remote/nameless.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "remote/direct_calls.h"
#include "remote/elf_functions.h"

#define DATA_MAX       (64u << 20) /* a piece of writable memory */
#define PIECES_MAX     8u
#define ENTERED_LEAST  2u /* jumps into a function's middle, which is then a part of the one that jumps */
#define COMMON_CALLERS 3u /* so many functions with names call what is not for calls alone */
#define SPREAD_STEPS   3u /* from a function that enters Python to those that help it */

/* What the loader puts into the writable memory of the file. */
struct words {
	uint64_t address;
	uint64_t *items; /* owned */
	uint64_t count;
};

struct function {
	enum evaluator_part part;
	bool is_named;
	bool is_evaluator; /* the evaluation loop, or moved out of it */
	uint8_t callers; /* with a name, that do not run Python functions */
	uint32_t called_in, entered_in; /* the last look that saw a call, or a jump into its middle */
	uint32_t entered;               /* how often that did */
};

struct guess {
	const struct elf_file *elf;
	struct elf_functions where;
	struct function *functions; /* owned; as many as where has */
	VEC(struct words) data;
	uint32_t evaluator, vectorcall; /* their numbers, or NO_FUNCTION */
	uint32_t makes_function, makes_method;
	uint32_t looks;   /* at functions, so far */
	bool is_doubtful; /* which is which */
};

static void mark(struct guess *guess, uint32_t number, enum evaluator_part part)
{
	if (number == NO_FUNCTION)
		return;
	struct function *function = &guess->functions[number];

	if (!function->is_named && function->part == EVALUATOR_NONE)
		function->part = part;
}

static void note_name(void *context, const char *name, struct elf_piece where)
{
	struct guess *guess = context;
	const struct {
		const char *name;
		uint32_t *number;
	} wanted[] = {
		{ "_PyEval_EvalFrameDefault", &guess->evaluator },
		{ "_PyFunction_Vectorcall", &guess->vectorcall },
		{ "PyFunction_NewWithQualName", &guess->makes_function },
		{ "PyMethod_New", &guess->makes_method },
	};
	uint32_t number = elf_functions_starting_at(&guess->where, where.address);

	if (number == NO_FUNCTION)
		return;
	struct function *function = &guess->functions[number];
	function->is_named = true;
	if (function->part == EVALUATOR_NONE)
		function->part = evaluator_part_of(name);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (strcmp(name, wanted[i].name) == 0)
			*wanted[i].number = number;
	}
}

/* -- what the interpreter's variables say -- */

static uint64_t *word_at(const struct guess *guess, uint64_t address)
{
	for (uint32_t i = 0; i < guess->data.count; i++) {
		const struct words *words = &guess->data.items[i];
		uint64_t index = (address - words->address) / sizeof(uint64_t);

		if (address >= words->address && index < words->count && address % sizeof(uint64_t) == 0)
			return &words->items[index];
	}
	return NULL;
}

static void put_address(void *context, uint64_t place, uint64_t address)
{
	uint64_t *word = word_at(context, place);

	if (word != NULL)
		*word = address;
}

static void read_data(struct guess *guess)
{
	struct elf_piece piece;

	for (uint32_t at = 0; guess->data.count < PIECES_MAX && elf_next_data(guess->elf, &at, &piece);) {
		uint64_t skip = -piece.address % sizeof(uint64_t);
		const unsigned char *bytes = elf_loaded(guess->elf, piece.address, piece.size);

		if (bytes == NULL || piece.size > DATA_MAX || piece.size < skip + sizeof(uint64_t))
			continue;
		uint64_t count = (piece.size - skip) / sizeof(uint64_t);
		struct words words = { piece.address + skip, mem_alloc(count * sizeof(uint64_t)), count };

		memcpy(words.items, bytes + skip, count * sizeof(uint64_t));
		vec_push(&guess->data, words);
	}
	elf_each_address(guess->elf, put_address, guess);
}

static uint32_t starting_at(const struct guess *guess, uint64_t address)
{
	return elf_functions_starting_at(&guess->where, address);
}

/* The same fields lie at the same offsets in all versions. */
static void mark_fields_of_types(struct guess *guess)
{
	enum { DEALLOC = 48, CALL = 128, ITERNEXT = 224, DESCR_GET = 272, INIT = 296, NEW = 312 };
	static const struct {
		const char *type;
		uint32_t offset;
		enum evaluator_part part;
	} fields[] = {
		{ "PyFrame_Type", DEALLOC, EVALUATOR_ENTERING },
		{ "PyGen_Type", ITERNEXT, EVALUATOR_ENTERING },
		{ "PyFunction_Type", DESCR_GET, EVALUATOR_RUNNING },
		{ "PyType_Type", CALL, EVALUATOR_RUNNING },
		{ "PyTuple_Type", DEALLOC, EVALUATOR_CHORES },
		{ "PyDict_Type", DEALLOC, EVALUATOR_CHORES },
		{ "PyLong_Type", DEALLOC, EVALUATOR_CHORES },
		{ "PyMethod_Type", DEALLOC, EVALUATOR_CHORES },
		{ "PyBaseObject_Type", INIT, EVALUATOR_CHORES },
		{ "PyBaseObject_Type", NEW, EVALUATOR_CHORES },
	};
	enum { COUNT = sizeof(fields) / sizeof(fields[0]) };
	const char *types[COUNT];
	struct elf_piece found[COUNT];

	for (size_t i = 0; i < COUNT; i++)
		types[i] = fields[i].type;
	elf_find_symbols(guess->elf, types, found, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		const uint64_t *word = word_at(guess, found[i].address + fields[i].offset);

		if (found[i].address != 0 && word != NULL)
			mark(guess, starting_at(guess, *word), fields[i].part);
	}
}

static bool is_function_or_none(const struct guess *guess, uint64_t address)
{
	return address == 0 || starting_at(guess, address) != NO_FUNCTION;
}

/* A row of the table of special methods: name, offset of a type's field, the function for that which calls the
 * method, the method that calls the field, words for people, flags, name. */
enum { SLOT_NAME, SLOT_OFFSET, SLOT_FUNCTION, SLOT_METHOD, SLOT_WORDS = 7 };
#define SLOT_OFFSET_MAX 4096u
#define SLOTS_LEAST     40u

static bool is_slot(const struct guess *guess, const uint64_t *row)
{
	if (row[SLOT_OFFSET] >= SLOT_OFFSET_MAX || row[SLOT_NAME] == 0 ||
	    !is_function_or_none(guess, row[SLOT_FUNCTION]) ||
	    !is_function_or_none(guess, row[SLOT_METHOD]))
		return false;
	const unsigned char *name = elf_loaded(guess->elf, row[SLOT_NAME], 2);
	return name != NULL && name[0] == '_' && name[1] == '_';
}

static void mark_slots(struct guess *guess, const struct words *words)
{
	for (uint64_t at = 0; at + SLOT_WORDS <= words->count;) {
		const uint64_t *rows = &words->items[at];
		uint64_t count = 0;

		while (at + (count + 1) * SLOT_WORDS <= words->count &&
		       is_slot(guess, rows + count * SLOT_WORDS))
			count++;
		for (uint64_t i = 0; count >= SLOTS_LEAST && i < count; i++)
			mark(guess, starting_at(guess, rows[i * SLOT_WORDS + SLOT_FUNCTION]),
			     EVALUATOR_ENTERING);
		at += count >= SLOTS_LEAST ? count * SLOT_WORDS : 1;
	}
}

/* The allocators below those that check: for raw memory, memory and objects a letter, then what is handed to
 * four functions, and these. */
static void mark_allocators(struct guess *guess, const struct words *words)
{
	enum { LETTER, ARGUMENT, FUNCTIONS, WORDS = FUNCTIONS + 4, COUNT = 3 };

	for (uint64_t at = 0; at + COUNT * WORDS <= words->count; at++) {
		const uint64_t *row = &words->items[at];

		if (row[LETTER] != 'r' || row[WORDS + LETTER] != 'm' || row[2 * WORDS + LETTER] != 'o')
			continue;
		for (const uint64_t *end = row + COUNT * WORDS; row < end; row += WORDS) {
			for (size_t i = FUNCTIONS; i < WORDS; i++)
				mark(guess, starting_at(guess, row[i]), EVALUATOR_CHORES);
		}
	}
}

/* -- what its code says -- */

static bool code_of(const struct guess *guess, uint32_t number, struct direct_code *code)
{
	struct elf_piece piece = elf_functions_piece(&guess->where, number);

	*code = (struct direct_code){ elf_loaded(guess->elf, piece.address, piece.size), piece.address,
				      piece.size };
	return code->bytes != NULL;
}

/* What to do with each function that one calls, or jumps into the middle of. */
struct look {
	struct guess *guess;
	void (*callee)(struct look *look, uint32_t number, bool is_middle);
	enum evaluator_part part; /* of those that are marked */
	VEC(uint32_t) next;       /* to look at, or looked at */
};

static void note_target(void *context, enum direct_kind kind, uint64_t target)
{
	struct look *look = context;
	uint32_t number = elf_functions_at(&look->guess->where, target), now = look->guess->looks;

	if (number == NO_FUNCTION)
		return;
	struct function *function = &look->guess->functions[number];
	if (look->guess->where.starts.items[number] == target) {
		if (function->called_in != now)
			look->callee(look, number, false);
		function->called_in = now;
	} else if (kind == DIRECT_JUMP && !function->is_named) {
		if (function->entered_in != now)
			function->entered = 0;
		function->entered_in = now;
		if (++function->entered == ENTERED_LEAST)
			look->callee(look, number, true);
	}
}

static void look_at(struct look *look, uint32_t number)
{
	struct direct_code code;

	look->guess->looks++;
	if (code_of(look->guess, number, &code))
		direct_calls(&code, note_target, look);
}

static void mark_callee(struct look *look, uint32_t number, bool is_middle)
{
	const struct function *function = &look->guess->functions[number];

	if (function->is_named || function->part != EVALUATOR_NONE)
		return;
	bool is_common = look->part != EVALUATOR_CHORES && !is_middle &&
			 function->callers >= COMMON_CALLERS;
	mark(look->guess, number, is_common ? EVALUATOR_CHORES : look->part);
	if (!is_common)
		vec_push(&look->next, number);
}

/* Looks at what is in the list, then at what that put there, and so on, so many times. */
static void follow(struct look *look, uint32_t steps)
{
	for (uint32_t from = 0; steps > 0; steps--) {
		for (uint32_t until = look->next.count; from < until; from++)
			look_at(look, look->next.items[from]);
	}
	vec_free(&look->next);
}

/* From each function of a part to those without a name that it calls; the evaluation loop calls all kinds. */
static void spread(struct guess *guess, enum evaluator_part part, uint32_t steps)
{
	struct look look = { .guess = guess, .callee = mark_callee, .part = part };

	for (uint32_t i = 0; i < guess->where.starts.count; i++) {
		if (guess->functions[i].part == part && !guess->functions[i].is_evaluator)
			vec_push(&look.next, i);
	}
	follow(&look, steps);
}

static void count_caller(struct look *look, uint32_t number, bool is_middle)
{
	struct function *function = &look->guess->functions[number];

	if (!is_middle && function->callers < COMMON_CALLERS)
		function->callers++;
}

static void count_callers(struct guess *guess)
{
	struct look look = { .guess = guess, .callee = count_caller };

	for (uint32_t i = 0; i < guess->where.starts.count; i++) {
		const struct function *function = &guess->functions[i];

		if (function->is_named && function->part != EVALUATOR_ENTERING &&
		    function->part != EVALUATOR_RUNNING && function->part != EVALUATOR_LOOP)
			look_at(&look, i);
	}
}

/* What was moved out of the evaluation loop can be nearly all of it. */
static void mark_middle(struct look *look, uint32_t number, bool is_middle)
{
	if (!is_middle)
		return;
	mark(look->guess, number, EVALUATOR_LOOP);
	look->guess->functions[number].is_evaluator = true;
}

static void mark_evaluator(struct guess *guess)
{
	struct look look = { .guess = guess, .callee = mark_middle };

	guess->functions[guess->evaluator].is_evaluator = true;
	look_at(&look, guess->evaluator);
}

/* What makes functions takes the address of the one to call them by, and of no other. */
static void note_vectorcall(void *context, uint64_t address)
{
	struct guess *guess = context;
	uint32_t number = starting_at(guess, address);

	if (number == NO_FUNCTION || guess->functions[number].is_named ||
	    guess->functions[number].part == EVALUATOR_CHORES)
		return;
	guess->is_doubtful |= guess->vectorcall != NO_FUNCTION && guess->vectorcall != number;
	guess->vectorcall = number;
	mark(guess, number, EVALUATOR_ENTERING);
}

/* So does what makes methods. */
static void note_method(void *context, uint64_t address)
{
	mark(context, starting_at(context, address), EVALUATOR_RUNNING);
}

static void look_for_references(struct guess *guess, uint32_t number,
				void (*found)(void *context, uint64_t target))
{
	struct direct_code code;

	if (number != NO_FUNCTION && code_of(guess, number, &code))
		direct_references(&code, found, guess);
}

/* The order matters: what has a part keeps it. */
static bool find_parts(struct guess *guess)
{
	elf_each_function(guess->elf, note_name, guess);
	read_data(guess);
	for (uint32_t i = 0; i < guess->data.count; i++)
		mark_allocators(guess, &guess->data.items[i]);
	if (guess->vectorcall == NO_FUNCTION)
		look_for_references(guess, guess->makes_function, note_vectorcall);
	if (guess->evaluator == NO_FUNCTION || guess->vectorcall == NO_FUNCTION || guess->is_doubtful)
		return false;
	mark_evaluator(guess);
	mark_fields_of_types(guess);
	spread(guess, EVALUATOR_CHORES, 1);
	for (uint32_t i = 0; i < guess->data.count; i++)
		mark_slots(guess, &guess->data.items[i]);
	look_for_references(guess, guess->makes_method, note_method);
	count_callers(guess);
	spread(guess, EVALUATOR_ENTERING, SPREAD_STEPS);
	spread(guess, EVALUATOR_RUNNING, 1);
	return true;
}

bool nameless_each(const struct elf_file *elf,
		   void (*found)(void *context, enum evaluator_part part, struct elf_piece where),
		   void *context)
{
	struct guess guess = { .elf = elf,
			       .evaluator = NO_FUNCTION,
			       .vectorcall = NO_FUNCTION,
			       .makes_function = NO_FUNCTION,
			       .makes_method = NO_FUNCTION };

	if (!elf_functions_read(&guess.where, elf))
		return false;
	guess.functions = mem_zalloc(guess.where.starts.count, sizeof(*guess.functions));
	bool is_known = find_parts(&guess);
	for (uint32_t i = 0; is_known && i < guess.where.starts.count; i++) {
		const struct function *function = &guess.functions[i];

		if (!function->is_named && function->part != EVALUATOR_NONE)
			found(context, function->part, elf_functions_piece(&guess.where, i));
	}
	for (uint32_t i = 0; i < guess.data.count; i++)
		free(guess.data.items[i].items);
	vec_free(&guess.data);
	free(guess.functions);
	elf_functions_fini(&guess.where);
	return is_known;
}
