"""The agent as the program's loader sees it: little to find, nothing left to bind later."""

import re
import subprocess
from pathlib import Path

import pytest

from support import symbols
from support.paths import build_dir

EXPORTS = Path(__file__).with_name("agent_exports.txt")


@pytest.fixture(scope="module")
def library():
    path = build_dir() / "libheatline-agent.so"
    assert path.is_file(), f"{path} is not there: run make first"
    return path


def dynamic_section(library):
    command = ["readelf", "--dynamic", "--wide", library]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout


def test_it_exports_what_is_listed_and_nothing_else(library):
    exported = symbols.names(library, "--dynamic", "--defined-only")
    listed = set(symbols.read_list(EXPORTS))
    assert not exported - listed, f"{EXPORTS.name} must say why these are exported"
    assert not listed - exported, f"{EXPORTS.name} lists what is not exported any more"


def test_nothing_is_bound_lazily(library):
    # The first call of a lazily bound function takes the loader's lock: deadly in a handler.
    assert re.search(r"\(FLAGS(_1)?\).*\bNOW\b", dynamic_section(library))


def test_thread_locals_need_no_allocation(library):
    # Other models call malloc on a thread's first access.
    assert "__tls_get_addr" not in symbols.names(library, "--dynamic", "--undefined-only")


def test_it_needs_only_the_c_library(library):
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic_section(library))
    foreign = [name for name in needed if not re.match(r"(libc|libpthread|libdl|librt|ld-linux)\b", name)]
    assert not foreign, "these would be loaded into every program"
