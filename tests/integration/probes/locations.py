"""Compare Heatline's location decoder with the interpreter that runs this.

    locations.py PROBE [--with-tests]

Compiles every file of the standard library (its own tests only if asked), hands the line tables of all code
objects to PROBE (python_probe locate), and compares what comes back, for every
code unit, with what the interpreter itself says.  Prints one line: how many
code objects and units were compared.  Runs on Python 3.6 and later.
"""

import array
import ctypes
import os
import struct
import subprocess
import sys
import sysconfig
import tempfile
import warnings

KIND = 0 if sys.version_info < (3, 10) else 1 if sys.version_info < (3, 11) else 2

address_to_line = ctypes.pythonapi.PyCode_Addr2Line
address_to_line.argtypes = [ctypes.py_object, ctypes.c_int]


def sources():
    left_out = {"site-packages", "dist-packages", "__pycache__"}
    if "--with-tests" not in sys.argv:
        left_out |= {"test", "tests", "idle_test"}
    for folder, folders, files in os.walk(sysconfig.get_path("stdlib")):
        folders[:] = sorted(set(folders) - left_out)
        for name in sorted(files):
            if name.endswith(".py"):
                yield os.path.join(folder, name)


def codes_of(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from codes_of(constant)


def expected_lnotab(code):
    for offset in range(0, len(code.co_code), 2):
        line = address_to_line(code, offset)
        yield (line, line, -1, -1) if line > 0 else (0, 0, -1, -1)


def expected_lines(code):
    for start, end, line in code.co_lines():
        for _ in range(start, end, 2):
            yield (line, line, -1, -1) if line else (0, 0, -1, -1)


def expected_positions(code):
    for line, end_line, column, end_column in code.co_positions():
        if not line:  # 0 is no line either: a module's first instruction
            yield (0, 0, -1, -1)
        else:
            yield (line, end_line, -1 if column is None else column, -1 if end_column is None else end_column)


EXPECTED = (expected_lnotab, expected_lines, expected_positions)[KIND]


def table_of(code):
    return code.co_lnotab if KIND == 0 else code.co_linetable


def write_tables(path, tables, expected, owners):
    """Adds one file's code objects; returns how many."""
    with open(path, "rb") as source:
        text = source.read()
    try:
        module = compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return 0  # the library has bad files on purpose
    many = 0
    for code in codes_of(module):
        table = table_of(code)
        want = array.array("i")
        for location in EXPECTED(code):
            want.extend(location)
        tables.write(struct.pack("=IiI", len(table), code.co_firstlineno, len(want) // 2))
        tables.write(table)
        want.tofile(expected)
        owners.append((expected.tell(), "%s in %s" % (code.co_name, path)))
        many += 1
    return many


def first_difference(expected, found, owners):
    expected.seek(0)
    found.seek(0)
    at = 0
    while True:
        want, got = expected.read(1 << 20), found.read(1 << 20)
        if want == got:
            if not want:
                return None
            at += len(want)
            continue
        for i in range(0, max(len(want), len(got)), 16):
            if want[i:i + 16] != got[i:i + 16]:
                owner = next(name for end, name in owners if at + i < end)
                start = max([end for end, _ in owners if end <= at + i], default=0)
                return "%s, byte %d: expected %s, found %s" % (
                    owner,
                    (at + i - start) // 8,
                    list(struct.unpack("=4i", want[i:i + 16])),
                    got[i:i + 16] and list(struct.unpack("=4i", got[i:i + 16])),
                )


def main():
    warnings.simplefilter("ignore")
    owners = []
    many = 0
    with tempfile.TemporaryFile() as tables, tempfile.TemporaryFile() as expected, tempfile.TemporaryFile() as found:
        for path in sources():
            many += write_tables(path, tables, expected, owners)
        tables.flush()
        tables.seek(0)
        subprocess.check_call([sys.argv[1], "locate", str(KIND)], stdin=tables, stdout=found)
        difference = first_difference(expected, found, owners)
        units = expected.tell() // 16
    if difference:
        sys.exit(difference)
    print(many, units)


main()
