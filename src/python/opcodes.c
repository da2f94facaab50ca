/* opcodes.c - one row per version: what each of the 256 opcodes is.
 *
 * The rows are printed by tests/integration/probes/opcodes.py --c, run by each
 * interpreter; a test derives them again.  Letters: o other, c call, p call of
 * Python, n call of C, t trivial, l lookup, x cache, j compiled, h handler; upper
 * case: control may go elsewhere than to the next instruction.  Caches: digits
 * to the base 20. */
#include "python/opcodes.h"

#include <stddef.h>

#define OPCODES 256u
#define RETURN_VALUE 83       /* up to 3.12 */
#define INSTRUMENTED_MIN 230u /* from here on: instructions under a monitor, which may hide any other */

struct opcode_row {
	uint16_t version;
	char kinds[OPCODES + 1];
	char caches[OPCODES + 1]; /* empty: there are none */
};

/* clang-format off */
static const struct opcode_row rows[] = {
	{
		.version = 0x0306,
		.kinds = "oottttoootoooooooooooooooooooooooooooooooooooooooooocooooooooooo"
			 "ooooooooOoooooooOcoOooOoOhoooOooooootloooooocoTOOTOOlooOooootooo"
			 "ooOcooottooooccctooooooooooooooooooooooooooooooooooooooooooooooo"
			 "oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo",
	},
	{
		.version = 0x0307,
		.kinds = "oottttoootoooooooooooooooooooooooooooooooooooooooooocooooooooooo"
			 "ooooooooOoooooooOcoOooOoOhoooOooooootloooooocoTOOTOOlooOooootooo"
			 "ooOcooottooooccctoooooooooooooooocoooooooooooooooooooooooooooooo"
			 "oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo",
	},
	{
		.version = 0x0308,
		.kinds = "ootttttootoooooooooooooooooooooooooooooooooooooooooocoOooooooooo"
			 "ooooooooOoooooooocoOooOoOhoooOooooootloooooocoTOOTOOloooooootooo"
			 "ooOcooottooooccctoooooooooooooooocOooooooooooooooooooooooooooooo"
			 "oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo",
	},
	{
		.version = 0x0309,
		.kinds = "ootttttootooooooooooooooooooooooooooooooooooooooOcoocoOooooooooo"
			 "ooooooooOooooooooooOooOoohoooOooooootloooooocoTOOTOOlooooHootooo"
			 "ooOcooottooooccctoooooooooooooooocoooooooooooooooooooooooooooooo"
			 "oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo",
	},
	{
		.version = 0x030a,
		.kinds = "ootttttootooooooooooooooooooooooooooooooooooooooocoocoOooooooooo"
			 "ooooooooOooooooooooOooOoohoooOooooottloooooocoTOOTOOlooOoHootooo"
			 "ooOcooottooooccctoooooooooooooooocoooooooooooooooooooooooooooooo"
			 "oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo",
	},
	{
		.version = 0x030b,
		.kinds = "xotooooootooooooooopoocppooOOOoooothhoToooootttotcooccOtoooooooo"
			 "oonnoooonnoOnnnnnnoOooOoohoooOooooottloooooocoTOOnOOlooOtnoOtoon"
			 "OOOoooTottooTncotooootttooooooooooooooooooocoOOOOooooooooooooooo"
			 "oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo",
		.caches = "00011111100001101444444444222200000000044444000550000005aaaa10aa"
			 "1111000011001111110000000000100400000000004200000100500001100001"
			 "00000000000001010000000004400044a0000010111400000111100000000000"
			 "0000000000000000000000000000000000000000000000000000000000000000",
	},
	{
		.version = 0x030c,
		.kinds = "xotOoooootoooooooooopooppooopnoooonhhonnnnnnnnnnncooccOOnoooooOO"
			 "OPoooooopooOopoooooOtotothoooOooooottloooooocoTttoOOlooOtOoOtoot"
			 "OOOoooTottooTocttooootOtooooooooooooooooPoocoooooooooooooooooooo"
			 "ooooooooooooooooooooooooooooooooooooooooooooooOOtcOOcTTOOOOooooo",
		.caches = "0000001110100110101111133100330000300033333333333000000031111011"
			 "1111009099009999999000000000110400000000009100044400400000110000"
			 "0000000000000100000040000400000111000011100300000000000000000000"
			 "0000000000000000000000000000000000000000000001000300000010000000",
	},
	{
		.version = 0x030d,
		.kinds = "xccoooohOoOoooooooooooOooooooothohtOOooooootcooooooooccoocoootto"
			 "ooooooJtOoocoTTTooottttttoollooooTOOTOOOOooooooooootooOooooooooo"
			 "oooooooooooooooooooootoooooooopooopppnnnnnnnnnnnnppnnnoooooPOOOo"
			 "pooooooopoottootPooooootooooooooooooooooooootooOOOoOcccoTTTTOOoo",
		.caches = "0001010000000000000000000000000000000001300001000000030000110000"
			 "0000000010000100009000000004010001111000100040000000010000000000"
			 "0000000000000000000000111111111111333333333333333333331111111119"
			 "9999999999944110144411333333111000000000000000000011300001111100",
	},
	{
		.version = 0x030e,
		.kinds = "xooocohOooooooooooooOooooootthoohtOOooooootcoooooooocoocooottooo"
			 "ooooOtOoocoTTToootttttttttoolltoooooTOOTOOOooooooooootooOooooooo"
			 "tooooooopoooooopppnnnnnpnpnnnnnnnppnnnoooooPOOOTToopooooooopoott"
			 "ttootPooooootooooooooooooooooooooooooooooooooOoTtTTOOtOOOocccToJ",
		.caches = "0005000000000000000000000000000000000013000050000000300311000000"
			 "0000001000010000900000000000400010001111001000400000000100000000"
			 "0555555555555553333333333333333333333311111111111999999999999900"
			 "4411014441133333311100000000000000000000000001000111100001330100",
	},
	{
		.version = 0x030f,
		.kinds = "xooocohOooooooooooOooooootthoohtOOooooootcoooooooocoocooottooooo"
			 "ooOtOooocoTTToootttttttttoolltoooooTOOTOOOooooooooootooOoooooooo"
			 "tooooooopooooooopppnnnnnpnpnpnnnnnnnppnnnoooooPOOOOooTToopoooooo"
			 "opoottoottOPOooooootooooooooooooooooooooooooOoTtTTOOtOOOocccToJo",
		.caches = "0005100000000000000000000000000000001300005000000030031100000000"
			 "0000101000100009000000000004000100011110010004000000001000000000"
			 "1555555555555555333333311333333333333333311111111111111999999999"
			 "9999441111111444113333331110000000000000000010001111100013311000",
	},
};
/* clang-format on */

/* Versions follow each other, so a row is found by its number: this is asked for
 * every sample and for every instruction around it. */
static const struct opcode_row *row_of(unsigned version)
{
	unsigned index = version - rows[0].version;

	if (index >= sizeof(rows) / sizeof(rows[0]) || rows[index].version != version)
		return NULL;
	return &rows[index];
}

/* By the letter's place in the alphabet. */
static const uint8_t kinds[32] = {
	['c' & 31] = PY_OP_CALL,    ['p' & 31] = PY_OP_CALL_PYTHON, ['n' & 31] = PY_OP_CALL_C,
	['t' & 31] = PY_OP_TRIVIAL, ['l' & 31] = PY_OP_LOOKUP,      ['x' & 31] = PY_OP_CACHE,
	['j' & 31] = PY_OP_JIT,     ['h' & 31] = PY_OP_HANDLER,     ['o' & 31] = PY_OP_OTHER,
};

enum py_op_kind py_op_kind(unsigned version, uint8_t opcode)
{
	const struct opcode_row *row = row_of(version);

	return row == NULL ? PY_OP_OTHER : (enum py_op_kind)kinds[row->kinds[opcode] & 31];
}

unsigned py_op_caches(unsigned version, uint8_t opcode)
{
	const struct opcode_row *row = row_of(version);
	char digit = row == NULL || row->caches[0] == '\0' ? '0' : row->caches[opcode];

	return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)(digit - 'a') + 10;
}

bool py_op_is_jump(unsigned version, uint8_t opcode)
{
	const struct opcode_row *row = row_of(version);

	return row != NULL && (row->kinds[opcode] & 0x20) == 0;
}

bool py_op_may_call(unsigned version, uint8_t opcode)
{
	const enum py_op_kind kind = py_op_kind(version, opcode);

	if (kind == PY_OP_TRIVIAL || kind == PY_OP_LOOKUP)
		return false;
	if (version < 0x030b)
		return opcode != RETURN_VALUE;
	if (row_of(version) == NULL || opcode >= INSTRUMENTED_MIN)
		return true;
	/* Whatever else calls without C is specialised for it, or may be soon. */
	return kind == PY_OP_CALL || kind == PY_OP_CALL_PYTHON || kind == PY_OP_CALL_C || kind == PY_OP_JIT ||
	       py_op_caches(version, opcode) > 0;
}
