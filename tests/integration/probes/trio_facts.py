"""Check what Heatline reads of trio's tasks against what the interpreter says itself.

    trio_facts.py PROBE

As task_facts.py, of which it uses the parts.
"""

import sys

import task_facts
import trio
import trio.testing


async def plain(gate):
    await gate.wait()


async def nested(gate):
    await plain(gate)


async def sleeping(gate):
    with trio.move_on_after(1000):
        await trio.sleep(500)


async def main():
    gate, wrong, tasks = trio.Event(), [], {}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(plain, gate, name="plain")
        nursery.start_soon(nested, gate, name="größe 测试")
        nursery.start_soon(nested, gate)
        nursery.start_soon(sleeping, gate, name="sleeping")
        await trio.testing.wait_all_tasks_blocked()
        for task in nursery.child_tasks:
            tasks[task.name] = task.coro
        head, found = task_facts.ask()
        if "loop, a task runs" not in head:
            wrong.append(head)
        if set(found) != set(tasks):
            wrong.append("found %r, expected %r" % (sorted(found), sorted(tasks)))
        for name, coroutine in tasks.items():
            expected = task_facts.expected_frames(coroutine)
            if found.get(name) != expected:
                wrong.append("%s: found %r, expected %r" % (name, found.get(name), expected))
        nursery.cancel_scope.cancel()
    print("\n".join(wrong + ["compared %d" % len(tasks)]))
    return bool(wrong)


sys.exit(trio.run(main))
