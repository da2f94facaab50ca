"""Functions that this code does without, and where printing and exiting belong."""

import re

import pytest

from support.paths import SRC
from support.sources import c_files, relative, without_comments_and_strings

BANNED = {
    "strcpy": "no bound: use struct buf or snprintf",
    "strcat": "no bound: use struct buf or snprintf",
    "strncpy": "may leave no terminator: use snprintf or memcpy",
    "strncat": "its bound is not the buffer's: use struct buf or snprintf",
    "stpcpy": "no bound: use struct buf or snprintf",
    "sprintf": "no bound: use snprintf",
    "vsprintf": "no bound: use vsnprintf",
    "gets": "no bound: use getline",
    "strtok": "hidden state: use strchr or strcspn",
    "system": "a shell reads its argument: use posix_spawn or fork and exec",
    "popen": "a shell reads its argument: use posix_spawn or fork and exec",
    "mktemp": "a race: use mkstemp",
    "tmpnam": "a race: use mkstemp",
    "tempnam": "a race: use mkstemp",
    "atoi": "cannot say that it failed: use strtol",
    "atol": "cannot say that it failed: use strtol",
    "atoll": "cannot say that it failed: use strtoll",
    "atof": "cannot say that it failed: use strtod",
    "alloca": "no bound: use an array or the heap",
    "asctime": "hidden state: use strftime",
    "ctime": "hidden state: use strftime",
    "localtime": "hidden state: use localtime_r",
    "gmtime": "hidden state: use gmtime_r",
    "setjmp": "skips the cleaning up: return an error",
    "longjmp": "skips the cleaning up: return an error",
}

# Only cli/ speaks to the user and ends the process; report/ writes where it is told.
CLI_ONLY = {
    "printf": "only cli/ prints",
    "puts": "only cli/ prints",
    "putchar": "only cli/ prints",
    "perror": "only cli/ prints",
    "exit": "only cli/ ends the process",
}
CLI_ONLY_STREAMS = ("stdout", "stderr")
CLI_ONLY_EXCEPT = {"src/base/mem.c"}  # out of memory: nobody is left to tell


def calls(path, names):
    """(line number, name) of every call of one of these functions."""
    pattern = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(names))
    source = without_comments_and_strings(path.read_text(encoding="utf-8"))
    for number, line in enumerate(source.splitlines(), 1):
        for match in pattern.finditer(line):
            yield number, match.group(1)


def test_no_banned_function_is_called():
    wrong = [
        f"{relative(path)}:{number}: {name}: {BANNED[name]}"
        for path in c_files()
        for number, name in calls(path, BANNED)
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_only_the_command_line_prints_and_exits():
    streams = re.compile(r"\b(%s)\b" % "|".join(CLI_ONLY_STREAMS))
    wrong = []
    for path in c_files():
        if path.relative_to(SRC).parts[0] == "cli" or relative(path) in CLI_ONLY_EXCEPT:
            continue
        for number, name in calls(path, CLI_ONLY):
            wrong.append(f"{relative(path)}:{number}: {name}: {CLI_ONLY[name]}")
        source = without_comments_and_strings(path.read_text(encoding="utf-8"))
        for number, line in enumerate(source.splitlines(), 1):
            if streams.search(line):
                wrong.append(f"{relative(path)}:{number}: only cli/ names a standard stream")
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    "text, found",
    [
        ("x = atoi(s);", True),
        ("x = my_atoi(s);", False),
        ("/* atoi(s) */", False),
        ('"atoi(s)"', False),
        ("ops->system(x);", False),
        ("snprintf(b, n, f);", False),
    ],
)
def test_the_lint_itself(tmp_path, text, found):
    path = tmp_path / "x.c"
    path.write_text(text)
    assert bool(list(calls(path, BANNED))) == found
