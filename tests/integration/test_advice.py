"""Advice made from real runs: the slow program gets it, its repaired twin does not.

Every rule by itself, with and without its pattern and its figures, is in tests/unit/test_advice.c.
"""

import pytest

from support.pythons import all_pythons

pytestmark = pytest.mark.measures

SEARCH = """
    seen = []
    for i in range(20000):
        if i * 7 % 4001 in seen:
            continue
        seen.append(i * 7 % 4001)
"""
SEARCH_A_SET = SEARCH.replace("[]", "set()").replace("append", "add").replace("20000", "3000000")

COMPILE = """
    import re

    def match(word):
        return re.match("(a|b)" + word + "[0-9]{3,5}x", word)

    found = [match("w%d" % i) for i in range(8000)]
"""
COMPILE_ONCE = COMPILE.replace("8000", "1000000").replace('re.match("(a|b)" + word + "[0-9]{3,5}x", word)',
                                                         "PATTERN.match(word)").replace(
    "import re", "import re\n\n    PATTERN = re.compile('(a|b)[0-9]{3,5}x')")

BLOCK = """
    import asyncio
    import time

    async def pause():
        time.sleep(0.7)

    asyncio.run(pause())
"""
AWAIT = BLOCK.replace("time.sleep", "await asyncio.sleep")

DRAIN = """
    def drain(items):
        left = list(items)
        while left:
            left.pop(0)

    for i in range(80):
        drain(range(12000))
"""
DRAIN_SHORT = DRAIN.replace("range(80)", "range(3000000)").replace("range(12000)", "(1, 2, 3)")

CASES = {
    "list-front": (".pop(0)", DRAIN, DRAIN_SHORT),
    "list-membership": ("in seen", SEARCH, SEARCH_A_SET),
    "regex-compile": ("re.match", COMPILE, COMPILE_ONCE),
    "blocking-async": ("time.sleep", BLOCK, AWAIT),
}


@pytest.fixture(params=sorted({all_pythons()[0], all_pythons()[-1]}, key=lambda p: p.version), ids=lambda p: p.name)
def one_python(request):
    """The oldest Python, and the newest."""
    return request.param


def advice(run):
    return run.profile["heatline"].get("advice", [])


@pytest.mark.parametrize("rule", CASES)
def test_a_slow_pattern_is_named(one_python, program, rule):
    code, slow, _ = CASES[rule]
    run = one_python.heatline_run(program(slow))
    assert [item["rule"] for item in advice(run)] == [rule], run
    item = advice(run)[0]
    assert code in run.lines_of("program.py")[item["line"]]["line"]
    assert 0.2 < item["share"] <= 1
    assert f"program.py:{item['line']}  {item['title']}" in run.stderr
    text = one_python.heatline(["view", "--cli", run.profile_path]).stdout
    assert "\nAdvice\n" in text and item["fix"].split(";")[0] in " ".join(text.split())


@pytest.mark.parametrize("rule", CASES)
def test_its_repaired_twin_is_not(one_python, program, rule):
    run = one_python.heatline_run(program(CASES[rule][2]))
    assert advice(run) == [], run
    assert "Advice" not in run.stderr
