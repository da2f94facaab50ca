"""Every header compiles alone, and twice in a row: it includes what it uses and has a guard."""

import subprocess

import pytest

from support.paths import SRC
from support.sources import c_files

HEADERS = [str(path.relative_to(SRC)) for path in c_files((".h",))]
FLAGS = "-std=gnu11 -Wall -Wextra -Wpedantic -Wno-unused-parameter -Werror -D_GNU_SOURCE".split()


@pytest.mark.parametrize("header", HEADERS)
def test_header_compiles_alone(header):
    done = subprocess.run(
        ["gcc", *FLAGS, f"-I{SRC}", "-fsyntax-only", "-x", "c", "-"],
        input=f'#include "{header}"\n' * 2,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout
