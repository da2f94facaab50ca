"""Derive what src/python/opcodes.c must say from the interpreter that runs this.

Prints a JSON object: "kinds", 256 letters (upper case: the instruction may
transfer control), and "caches", 256 digits to the
base of 20.  With --c, the row in C.
Runs on Python 3.6 and later.
"""

import json
import opcode
import sys

LETTERS = {"other": "o", "call": "c", "python": "p", "c": "n", "trivial": "t", "lookup": "l", "cache": "x",
           "jit": "j", "handler": "h"}

CALLS = {
    "CALL", "CALL_ADAPTIVE", "CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL_FUNCTION_EX", "CALL_KW", "CALL_METHOD",
    "CALL_EX_NON_PY_GENERAL", "CALL_EX_PY",
    # These call __enter__ and __exit__, or run a module.
    "SETUP_WITH", "BEFORE_WITH", "BEFORE_ASYNC_WITH", "WITH_CLEANUP_START", "WITH_EXCEPT_START", "IMPORT_NAME",
}

# Specialised, and pushing a Python frame or resuming a generator's.
PYTHON = {
    "CALL_PY_EXACT_ARGS", "CALL_PY_WITH_DEFAULTS", "CALL_PY_GENERAL", "CALL_BOUND_METHOD_EXACT_ARGS",
    "CALL_BOUND_METHOD_GENERAL", "CALL_ALLOC_AND_ENTER_INIT", "CALL_NO_KW_ALLOC_AND_ENTER_INIT", "CALL_KW_PY",
    "CALL_KW_BOUND_METHOD", "CALL_EX_PY", "BINARY_SUBSCR_GETITEM", "BINARY_OP_SUBSCR_GETITEM", "LOAD_ATTR_PROPERTY",
    "LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN", "SEND_GEN", "FOR_ITER_GEN",
}

# Specialised, and running C.  In 3.11 the PRECALL does it.
C_PREFIXES = (
    "CALL_BUILTIN_", "CALL_NO_KW_", "CALL_METHOD_DESCRIPTOR_", "PRECALL_BUILTIN_", "PRECALL_NO_KW_",
    "PRECALL_METHOD_DESCRIPTOR_",
)
C_NAMES = {
    "CALL_ISINSTANCE", "CALL_LEN", "CALL_LIST_APPEND", "CALL_STR_1", "CALL_TUPLE_1", "CALL_TYPE_1",
    "CALL_NON_PY_GENERAL", "CALL_KW_NON_PY", "CALL_EX_NON_PY_GENERAL",
}

# Nothing that could free an object or call anything.
TRIVIAL = {
    "NOP", "EXTENDED_ARG", "EXTENDED_ARG_QUICK", "RESUME", "RESUME_CHECK", "RESUME_CHECK_JIT", "RESUME_QUICK", "PUSH_NULL", "COPY", "SWAP",
    "DUP_TOP", "DUP_TOP_TWO", "ROT_TWO", "ROT_THREE", "ROT_FOUR", "ROT_N", "NOT_TAKEN",
    "LOAD_CONST", "LOAD_CONST_IMMORTAL", "LOAD_CONST_MORTAL", "LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT",
    "LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "LOAD_FAST__LOAD_FAST", "LOAD_FAST__LOAD_CONST", "LOAD_CONST__LOAD_FAST",
    "LOAD_CLOSURE", "LOAD_DEREF", "LOAD_GLOBAL_MODULE", "LOAD_GLOBAL_BUILTIN", "COPY_FREE_VARS",
    "JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_QUICK", "JUMP_BACKWARD_NO_INTERRUPT",
    "JUMP_BACKWARD_JIT", "JUMP_BACKWARD_NO_JIT",
}
# One or two look-ups of a name in a dictionary, and no more.
LOOKUPS = {"LOAD_GLOBAL", "LOAD_NAME"}
# At the entry and the end of an exception's handler.
HANDLERS = {"PUSH_EXC_INFO", "CHECK_EXC_MATCH", "JUMP_IF_NOT_EXC_MATCH", "POP_EXCEPT"}

# From 3.13 on these see only True and False.
TRIVIAL_FROM_3_13 = {"POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "UNARY_NOT", "TO_BOOL_BOOL"}

TRANSFERS = {
    "RETURN_VALUE", "RETURN_CONST", "RETURN_GENERATOR", "YIELD_VALUE", "YIELD_FROM", "RAISE_VARARGS", "RERAISE",
    "INTERPRETER_EXIT", "ENTER_EXECUTOR", "BREAK_LOOP", "CONTINUE_LOOP", "END_FINALLY", "CALL_FINALLY", "END_ASYNC_FOR",
    "CLEANUP_THROW", "JUMP_BACKWARD_QUICK", "COMPARE_OP_FLOAT_JUMP", "COMPARE_OP_INT_JUMP", "COMPARE_OP_STR_JUMP",
}


def all_opcodes():
    """Every opcode below 256 by name, with the specialised and the instrumented ones."""
    numbers = dict(opcode.opmap)
    if hasattr(opcode, "_specialized_opmap"):
        numbers.update(opcode._specialized_opmap)
    elif hasattr(opcode, "_specialized_instructions"):
        import dis

        numbers.update(dis._all_opmap)
    return {name: number for name, number in numbers.items() if number < 256}


def base_names():
    """The unspecialised opcode of each specialised one."""
    bases = {}
    for base, names in getattr(opcode, "_specializations", {}).items():
        for name in names:
            bases[name] = base
    return bases


def kind_of(name):
    if name == "CACHE":
        return "cache"
    if name == "ENTER_EXECUTOR":
        return "jit"
    if name in PYTHON:
        return "python"
    if name in C_NAMES or name.startswith(C_PREFIXES):
        return "c"
    if name in CALLS:
        return "call"
    if name in TRIVIAL or (name in TRIVIAL_FROM_3_13 and sys.version_info >= (3, 13)):
        return "trivial"
    if name in LOOKUPS:
        return "lookup"
    if name in HANDLERS:
        return "handler"
    return "other"


def caches_of(name):
    entries = getattr(opcode, "_inline_cache_entries", None)
    if entries is None:
        return 0
    if hasattr(entries, "get"):
        return entries.get(name, 0)
    return entries[opcode.opmap[name]] if name in opcode.opmap else 0


def table():
    bases = base_names()
    jumps = {opcode.opname[number] for number in opcode.hasjrel + opcode.hasjabs}
    jumps = {name for name in jumps if not name.startswith("SETUP_")} | TRANSFERS
    kinds, caches = ["o"] * 256, ["0"] * 256
    for name, number in all_opcodes().items():
        plain = name[len("INSTRUMENTED_"):] if name.startswith("INSTRUMENTED_") else name
        base = bases.get(plain, plain)
        letter = LETTERS[kind_of(plain)]
        kinds[number] = letter.upper() if plain in jumps or base in jumps else letter
        caches[number] = "0123456789abcdefghij"[caches_of(base)]
    return {"kinds": "".join(kinds), "caches": "".join(caches)}


def main():
    made = table()
    if "--names" in sys.argv:
        for name, number in sorted(all_opcodes().items(), key=lambda pair: pair[1]):
            print(number, name, made["kinds"][number], made["caches"][number])
    elif "--c" in sys.argv:
        print("\t{\n\t\t.version = 0x%02x%02x," % sys.version_info[:2])
        for field in ("kinds", "caches"):
            rows = ['"%s"' % made[field][at:at + 64] for at in range(0, 256, 64)]
            if field == "caches" and set(made[field]) == {"0"}:
                continue
            print("\t\t.%s = %s," % (field, "\n\t\t\t ".join(rows)))
        print("\t},")
    else:
        print(json.dumps(made))


main()
