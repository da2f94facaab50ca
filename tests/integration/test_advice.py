"""Advice made from real runs: the slow program gets it, its repaired twin does not.

Every rule by itself, with and without its pattern and its figures, is in tests/unit/test_advice.c.
"""

import pytest

from support.pythons import all_pythons

SLOW = """
    import asyncio, re, time

    class Log:
        def __init__(self):
            self.text = ""

        def fill(self, count):
            for i in range(count):
                self.text += "x" * 400

    def search(count):
        seen = []
        for i in range(count):
            if i * 7 % 4001 in seen:
                continue
            seen.append(i * 7 % 4001)

    def match(words):
        return [re.match("(a|b)" + word + "[0-9]{3,5}x", word) for word in words]

    async def pause():
        time.sleep(0.3)

    search(14000)
    Log().fill(2500)
    match(["w%d" % i for i in range(600)])
    asyncio.run(pause())
"""

FAST = (
    SLOW.replace("self.text += ", "parts = ").replace("seen = []", "seen = set()").replace("seen.append", "seen.add")
    .replace('re.match("(a|b)" + word + "[0-9]{3,5}x", word)', "PATTERN.match(word)")
    .replace("import asyncio, re, time", "import asyncio, re, time\n\n    PATTERN = re.compile('(a|b)')")
    .replace("time.sleep(0.3)", "await asyncio.sleep(0.3)").replace("search(14000)", "search(900000)")
)


@pytest.fixture(params=[0, -1], ids=["oldest", "newest"])
def one_python(request):
    return all_pythons()[request.param]


def advice(run):
    return run.profile["heatline"].get("advice", [])


def test_slow_patterns_are_named(one_python, program):
    run = one_python.heatline_run(program(SLOW))
    found = {item["rule"]: item for item in advice(run)}
    assert {"list-membership", "regex-compile", "blocking-async"} <= set(found), run
    # Whether text that grows is copied is the allocator's affair: if it took the time, it is named.
    assert set(found) <= {"list-membership", "regex-compile", "blocking-async", "string-building"}
    lines = run.lines_of("program.py")
    assert "in seen" in lines[found["list-membership"]["line"]]["line"]
    assert "time.sleep" in lines[found["blocking-async"]["line"]]["line"]
    assert all(0.02 <= item["share"] <= 1 for item in found.values())
    shares = [item["share"] for item in advice(run)]
    assert shares == sorted(shares, reverse=True)
    assert "Advice: " in run.stderr
    text = one_python.heatline(["view", "--cli", run.profile_path]).stdout
    assert "\nAdvice\n" in text and "Make seen a set" in text


def test_repaired_patterns_are_not(one_python, program):
    run = one_python.heatline_run(program(FAST))
    assert advice(run) == [], run
    assert "Advice" not in run.stderr
