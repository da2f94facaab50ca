"""The agent as the program's loader sees it: little to find, nothing left to bind later."""

import re
import subprocess
from pathlib import Path

import pytest

from support import symbols
from support.paths import build_dir

LISTS = Path(__file__).parent
EXPORTS = {
    "libheatline-agent.so": ["agent_exports.txt"],
    "libheatline-agent-memory.so": ["agent_exports.txt", "agent_memory_exports.txt"],
}


@pytest.fixture(scope="module", params=EXPORTS)
def library(request):
    path = build_dir() / request.param
    assert path.is_file(), f"{path} is not there: run make first"
    return path


def dynamic_section(library):
    command = ["readelf", "--dynamic", "--wide", library]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout


def test_it_exports_what_is_listed_and_nothing_else(library):
    lists = EXPORTS[library.name]
    listed = {name for file in lists for name in symbols.read_list(LISTS / file)}
    exported = symbols.names(library, "--dynamic", "--defined-only")
    assert not exported - listed, f"{lists[-1]} must say why these are exported"
    assert not listed - exported, f"{' or '.join(lists)} lists what is not exported any more"


def test_nothing_is_bound_lazily(library):
    # The first call of a lazily bound function takes the loader's lock: deadly in a handler.
    assert re.search(r"\(FLAGS(_1)?\).*\bNOW\b", dynamic_section(library))


def test_thread_locals_need_no_allocation(library):
    # Other models call malloc on a thread's first access.
    assert "__tls_get_addr" not in symbols.names(library, "--dynamic", "--undefined-only")


def test_it_needs_only_the_c_library(library):
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic_section(library))
    foreign = [name for name in needed if not re.match(r"(libc|libm|libpthread|libdl|librt|ld-linux)\b", name)]
    assert not foreign, "these would be loaded into every program"
