/* length.c - see length.h.
 *
 * Two ways to count.  Where the interpreter's functions are known, time in the evaluation loop is told
 * from the rest: only the loop's is counted as a load's (a store that frees an object is no load), the
 * loop's own part of an operator counts as one load more, and operators can be judged together.
 * Elsewhere all samples of the loads count. */
#include "collect/length.h"

#include <math.h>

/* How long an operation is if it is short and if it is long, in loads, and how much likelier
 * (as a logarithm) than short it must be to be called long. */
struct lengths {
	double short_loads, long_loads, evidence;
};

/* An access to a dictionary that misses every cache takes 100 to 550 loads (measured), but
 * stands still; what moves about and is short does not miss them. */
static const struct lengths by_spread[] = {
	[SPREAD_UNKNOWN] = {200, 10000, 1.95},
	[SPREAD_STANDS] = {400, 5000, 1},
	[SPREAD_MOVES] = {100, 2000, 1.95},
};

/* Where it is met in C functions that short operations do not consist of: loops over many items,
 * however tight.  What stands may miss the caches, but once: lookups alone do so several times in turn. */
static const struct lengths at_work[] = {
	[SPREAD_UNKNOWN] = {100, 2000, 1.95},
	[SPREAD_STANDS] = {200, 4000, 1},
	[SPREAD_MOVES] = {100, 2000, 1.95},
};

/* What stands, and is met in lookups and their like only, is hardly ever long. */
static const struct lengths looking_up = {500, 10000, 1.95};

#define FEW 8u /* one sample in so many may be elsewhere */

/* Interrupts, and caches that are cold after a long operation, put about one
 * sample in so many beside it (measured): on its loads, or anywhere in the evaluation loop. */
#define STRAY_LOADS 500.0
#define STRAY_LOOP 200.0

#define POOL_EVIDENCE 1.95 /* of several operators together */

enum answer { SHORT, UNDECIDED, LONG };

/* How many samples there should be beside some operations, if these are short and if they are long,
 * and how many there are. */
struct question {
	double if_short, if_long;
	uint64_t beside;
};

static enum answer ask(const struct question *question, double stray, double evidence)
{
	double if_short = question->if_short + stray, if_long = question->if_long + stray;
	double more = if_short - if_long, beside = (double)question->beside;
	if (more <= 0)
		return UNDECIDED;
	/* It is a Poisson number.  ln x is at least 1 - 1/x, which tells without a logarithm of
	 * nearly all that are short. */
	if (more - beside * (1 - if_long / if_short) <= -evidence)
		return SHORT;
	double found = more - beside * log(if_short / if_long);
	return found > evidence ? LONG : found < -evidence ? SHORT : UNDECIDED;
}

/* ---- one instruction ---- */

static bool is_placed(const struct code_op *op)
{
	return op->placed > op->leaf / 2;
}

/* The samples of its work. */
static uint32_t work_of(const struct code_op *op, bool by_place)
{
	return by_place ? op->placed - op->inside : op->leaf;
}

static const struct lengths *lengths_of(const struct code_op *op)
{
	enum spread_kind kind = spread_kind(&op->spread);
	uint32_t most = op->placed - op->placed / FEW;
	if (!is_placed(op))
		return &by_spread[kind];
	if (op->working >= most)
		return &at_work[kind];
	return op->common >= most && kind == SPREAD_STANDS ? &looking_up : &by_spread[kind];
}

/* Its samples that count as a load's, or an exception handler's. */
static uint32_t short_samples(const struct code_op *op, enum py_op_kind kind, bool by_place)
{
	if (!by_place)
		return op->leaf;
	return kind == PY_OP_TRIVIAL ? op->inside : op->placed;
}

/* An operator that works in the evaluation loop itself, for long enough to show: an item of a list that misses
 * the caches.  Any other is there for a load's time or two. */
#define LOOP_WORK 8u

static bool works_in_loop(const struct code_op *op)
{
	return op->inside >= LOOP_WORK && op->inside > op->placed / 2;
}

/* A straight piece of code. */
struct piece {
	uint32_t first, last;
	uint32_t loads;   /* by place, with one for each operator */
	uint64_t samples; /* of these */
	uint64_t work;    /* samples of all else in it; by place */
};

/* C code that calls Python functions goes through the evaluation loop again and again. */
static bool counts_as_load(const struct code_op *op)
{
	return op->callee == 0 && !works_in_loop(op);
}

/* Adds what an instruction of the piece tells. */
static void add_to_piece(struct piece *piece, const struct code *code, const struct code_op *op, bool by_place)
{
	uint8_t opcode = code->bytecode[op->op * 2];
	enum py_op_kind kind = py_op_kind(code->version, opcode);
	if (shape_loads(kind) > 0) {
		piece->samples += short_samples(op, kind, by_place);
		return;
	}
	piece->work += work_of(op, true);
	if (!by_place || !shape_is_operator(code->version, opcode))
		return;
	if (counts_as_load(op))
		piece->samples += op->inside;
	else
		piece->loads--;
}

static struct piece piece_of(const struct shape *shape, uint32_t op, bool by_place)
{
	uint32_t first;
	const struct shape_piece *found = shape_find(shape, op, &first);
	return (struct piece){
		.first = first,
		.last = found->end,
		.loads = found->loads + (by_place ? found->operators : 0),
	};
}

static struct piece read_piece(const struct code *code, uint32_t op, bool by_place)
{
	struct piece piece = piece_of(code->shape, op, by_place);
	for (uint32_t i = 0; i < code->op_count && code->ops[i].op <= piece.last; i++) {
		const struct code_op *beside = &code->ops[i];
		if (beside->leaf > 0 && beside->op >= piece.first && shape_is_start(code->shape, beside->op))
			add_to_piece(&piece, code, beside, by_place);
	}
	return piece;
}

/* Exception handlers are met as often as something raises.  That is what makes an instruction
 * that raises look long: half a microsecond for the exception, and none of the loads behind it. */
static uint64_t count_handlers(const struct code *code, bool by_place)
{
	uint64_t samples = 0;
	for (uint32_t i = 0; i < code->op_count; i++) {
		const struct code_op *op = &code->ops[i];
		enum py_op_kind kind = py_op_kind(code->version, code->bytecode[op->op * 2]);
		if (kind == PY_OP_HANDLER && shape_is_start(code->shape, op->op))
			samples += short_samples(op, kind, by_place);
	}
	return samples;
}

/* A jump that is no loop's head runs as often as the piece that it ends; the head of a loop
 * as often as the piece behind it.  So whichever runs more often. */
static struct piece piece_around(const struct code *code, const struct code_op *op, bool by_place)
{
	struct piece piece = read_piece(code, op->op, by_place);
	if (op->op == 0 || !py_op_is_jump(code->version, code->bytecode[op->op * 2]))
		return piece;
	struct piece before = read_piece(code, op->op - 1, by_place);
	bool is_denser = before.samples * piece.loads > piece.samples * before.loads;
	return before.last == op->op && is_denser ? before : piece;
}

static enum answer ask_alone(const struct code *code, const struct code_op *op, const struct piece *piece,
			     uint64_t handled, bool by_place)
{
	const struct lengths *than = lengths_of(op);
	/* A jump is none of the operators of its piece. */
	bool is_more = by_place && counts_as_load(op) &&
		       !shape_is_operator(code->version, code->bytecode[op->op * 2]);
	double work = work_of(op, by_place), loads = piece->loads + (is_more ? 1 : 0);
	/* Strays are of whatever is long beside it, too. */
	double stray = !by_place ? work / STRAY_LOADS : fmax(work, (double)piece->work) / STRAY_LOOP;
	struct question question = {
		.if_short = work * loads / than->short_loads,
		.if_long = work * loads / than->long_loads,
		.beside = piece->samples + handled + (is_more ? op->inside : 0),
	};
	return ask(&question, stray, than->evidence);
}

/* ---- several together ---- */

/* A piece whose operators are being added up. */
struct sum {
	double work, if_short, if_long; /* these are per load and sample */
};

static void add_operator(struct sum *sum, const struct code_op *op)
{
	const struct lengths *than = lengths_of(op);
	double work = work_of(op, true), others = work > 0 ? work - 1 : 0;
	sum->work += work;
	sum->if_short += work * others / than->short_loads;
	sum->if_long += work * others / than->long_loads;
}

/* How long is an operation that a sample is in, on average?  By how many others are in the same one: samples
 * each on an operator of its own say nothing. */
static void add_piece(struct question *question, double *stray, const struct piece *piece, struct sum *sum)
{
	if (sum->work > 0) {
		question->if_short += sum->if_short * piece->loads / sum->work;
		question->if_long += sum->if_long * piece->loads / sum->work;
		question->beside += piece->samples;
		*stray += (double)piece->work / STRAY_LOOP;
	}
	*sum = (struct sum){.work = 0};
}

/* All of the operators from one unit to another, where a piece begins and ends. */
static enum answer ask_together(const struct code *code, uint32_t first, uint32_t last, uint64_t handled)
{
	struct question question = {.beside = handled};
	struct sum sum = {.work = 0};
	struct piece piece = {.last = 0};
	bool has_piece = false;
	double stray = 0;
	for (uint32_t i = 0; i < code->op_count && code->ops[i].op <= last; i++) {
		const struct code_op *op = &code->ops[i];
		if (op->op < first || op->placed == 0 || !shape_is_start(code->shape, op->op))
			continue;
		uint8_t opcode = code->bytecode[op->op * 2];
		if (op->op > piece.last || !has_piece) {
			if (py_op_is_jump(code->version, opcode)) /* ends a piece without others */
				continue;
			has_piece = true;
			add_piece(&question, &stray, &piece, &sum);
			piece = piece_of(code->shape, op->op, true);
		}
		add_to_piece(&piece, code, op, true);
		if (shape_is_operator(code->version, opcode))
			add_operator(&sum, op);
	}
	add_piece(&question, &stray, &piece, &sum);
	return ask(&question, stray, POOL_EVIDENCE);
}

bool length_is_long(struct code *code, const struct code_op *op)
{
	codes_shape(code);
	bool by_place = is_placed(op);
	struct piece piece = piece_around(code, op, by_place);
	uint64_t handled = count_handlers(code, by_place);
	enum answer answer = ask_alone(code, op, &piece, handled, by_place);
	if (answer != UNDECIDED || !by_place || op->inside > op->placed / 2 ||
	    !shape_is_operator(code->version, code->bytecode[op->op * 2]))
		return answer == LONG;
	answer = ask_together(code, piece.first, piece.last, handled);
	if (answer == UNDECIDED)
		answer = ask_together(code, 0, UINT32_MAX, handled);
	return answer == LONG;
}
