"""Check a layout against live objects of the interpreter that runs this.

    layout_facts.py PROBE

Asks PROBE (python_probe layout or published) for the layout of this version.
Prints a line for each field that is not where the layout says, and at the end
how many were checked.  Runs on Python 3.6 and later.
"""

import ctypes
import gc
import os
import struct
import subprocess
import sys
import threading

api = ctypes.pythonapi
VERSION = sys.version_info[:2]


def read(address, form):
    size = struct.calcsize(form)
    return struct.unpack(form, ctypes.string_at(address, size))[0]


def pointer(address):
    return read(address, "=Q")


def call(name):
    function = getattr(api, name)
    function.restype = ctypes.c_void_p
    return function()


class Checker:
    def __init__(self, layout):
        self.layout = layout
        self.checked = 0
        self.wrong = []

    def same(self, field, found, expected):
        self.checked += 1
        if found != expected:
            self.wrong.append("%s %s: found %r, expected %r" % (field, self.layout[field], found, expected))

    def has(self, field):
        return self.layout[field] >= 0

    def at(self, base, field, form="=Q"):
        return read(base + self.layout[field], form)


def sample(a, größe=2, *rest, key=None):
    """A function with something of everything."""
    local = [x for x in (a, größe)]
    return local, rest, key


def check_objects(check):
    for thing in (sample, 5, "x", sample.__code__):
        check.same("object_type", check.at(id(thing), "object_type"), id(type(thing)))
    data = b"some bytes"
    check.same("bytes_length", check.at(id(data), "bytes_length"), len(data))
    check.same("bytes_data", ctypes.string_at(id(data) + check.layout["bytes_data"], len(data)), data)


def check_strings(check):
    for text, kind, is_ascii, codec in (
        ("plain" * 3, 1, 1, "ascii"),
        ("größe", 1, 0, "latin-1"),
        ("测试", 2, 0, "utf-16-le"),
        ("𐌰x", 4, 0, "utf-32-le"),
    ):
        check.same("unicode_length", check.at(id(text), "unicode_length"), len(text))
        state = check.at(id(text), "unicode_state", "=I") >> 2
        check.same("unicode_state", (state & 7, state >> 3 & 1, state >> 4 & 1), (kind, 1, is_ascii))
        field = "unicode_ascii_data" if is_ascii else "unicode_compact_data"
        expected = text.encode(codec)
        check.same(field, ctypes.string_at(id(text) + check.layout[field], len(expected)), expected)


def check_code(check):
    code = sample.__code__
    check.same("code_filename", check.at(id(code), "code_filename"), id(code.co_filename))
    check.same("code_name", check.at(id(code), "code_name"), id(code.co_name))
    check.same("code_firstlineno", check.at(id(code), "code_firstlineno", "=i"), code.co_firstlineno)
    check.same("code_flags", check.at(id(code), "code_flags", "=i"), code.co_flags)
    lines = code.co_linetable if VERSION >= (3, 10) else code.co_lnotab
    check.same("code_lines", check.at(id(code), "code_lines"), id(lines))
    if VERSION < (3, 11):
        check.same("code_code", check.at(id(code), "code_code"), id(code.co_code))
        return
    check.same("code_qualname", check.at(id(code), "code_qualname"), id(code.co_qualname))
    check.same("code_units", check.at(id(code), "code_units"), len(code.co_code) // 2)
    found = ctypes.string_at(id(code) + check.layout["code_code"], len(code.co_code))
    check.same("code_code", found, code._co_code_adaptive)
    if check.has("code_framesize"):
        check.same("code_framesize", check.at(id(code), "code_framesize", "=i"), words_of(check, code))
    else:
        check.same("code_stacksize", check.at(id(code), "code_stacksize", "=i"), code.co_stacksize)
        check.same("code_nlocalsplus", check.at(id(code), "code_nlocalsplus", "=i"), len(code.co_varnames))
    if check.has("code_version"):
        versions = {check.at(id(f.__code__), "code_version", "=I") for f in FUNCTIONS}
        check.same("code_version", (len(versions), 0 in versions), (len(FUNCTIONS), False))


def check_names(check):
    """The names of a function's variables, and of a class's attributes."""
    code = sample.__code__
    if check.has("code_local_names"):
        names = ctypes.cast(check.at(id(code), "code_local_names"), ctypes.py_object).value
        check.same("code_local_names", names, code.co_varnames)
    if check.has("type_cached_keys"):
        instance = Named()
        keys = pointer(id(instance.__dict__) + 32)
        check.same("type_cached_keys", check.at(id(Named), "type_cached_keys"), keys)
    if check.has("interp_modules"):
        interpreter = call("PyInterpreterState_Head")
        check.same("interp_modules", check.at(interpreter, "interp_modules"), id(sys.modules))


class Named:
    def __init__(self):
        self.first = 1
        self.second = 2


FUNCTIONS = [sample, read, pointer, call, check_objects, check_strings, check_code]


def check_frame_object(check):
    """Before 3.11 a frame is an object.  The innermost are those that do the reading."""
    frame = sys._getframe()
    found = check.at(call("PyThreadState_Get"), "thread_frame")
    for _ in range(5):
        if found != id(frame):
            found = check.at(found, "frame_previous")
    check.same("thread_frame", found, id(frame))
    check.same("frame_previous", check.at(id(frame), "frame_previous"), id(frame.f_back))
    check.same("frame_code", check.at(id(frame), "frame_code"), id(frame.f_code))
    outer = frame.f_back
    scale = 2 if VERSION == (3, 10) else 1
    check.same("frame_instr", check.at(id(outer), "frame_instr", "=i") * scale, outer.f_lasti)
    if check.has("frame_locals"):
        check.same("frame_locals", check.at(id(frame), "frame_locals"), id(check))


def words_of(check, code):
    variables = len(set(code.co_varnames + code.co_cellvars + code.co_freevars))
    return check.layout["frame_specials"] // 8 + code.co_stacksize + variables


def check_frame(check):
    """From 3.11 on it lies on the frame stack, or in a generator."""
    state = call("PyThreadState_Get")
    innermost = check.at(state, "thread_frame")
    if check.has("cframe_current_frame"):
        outer = check.at(innermost, "cframe_previous")
        innermost = check.at(innermost, "cframe_current_frame")
        check.same("cframe_previous", state <= outer < state + 4096, True)
    readers = {id(f.__code__): f.__code__ for f in (ctypes.string_at, read, Checker.at)}
    reader = readers[check.at(innermost, "frame_code") & ~7]
    frame, code = innermost, sys._getframe().f_code
    for _ in range(5):
        if check.at(frame, "frame_code") & ~7 != id(code):
            frame = check.at(frame, "frame_previous")
    check.same("frame_code", check.at(frame, "frame_code") & ~7, id(code))
    check.same("frame_owner", check.at(frame, "frame_owner", "=B"), 0)
    previous = check.at(frame, "frame_previous")
    caller = sys._getframe().f_back
    check.same("frame_previous", check.at(previous, "frame_code") & ~7, id(caller.f_code))
    offset = check.at(previous, "frame_instr") - id(caller.f_code) - check.layout["code_code"]
    check.same("frame_instr", offset, caller.f_lasti)
    if check.has("frame_stacktop"):  # the caller's is put away, that of who calls C is not
        size = words_of(check, caller.f_code)
        check.same("frame_stacktop", 0 <= check.at(previous, "frame_stacktop", "=i") < size, True)
        check.same("frame_stacktop", check.at(innermost, "frame_stacktop", "=i"), -1)
    chunk = check.at(state, "thread_datastack_chunk")
    check.same("thread_datastack_chunk", chunk < previous < frame, True)
    check.same("frame_specials", frame - previous, 8 * words_of(check, caller.f_code))
    check.same("frame_locals", check.at(frame, "frame_locals") & ~3, id(check))
    top = check.at(state, "thread_datastack_top")
    check.same("thread_datastack_top", top, innermost + 8 * words_of(check, reader))


def check_thread(check):
    state = call("PyThreadState_Get")
    check.same("thread_id", check.at(state, "thread_id"), threading.get_ident())
    if check.has("thread_native_id"):
        check.same("thread_native_id", check.at(state, "thread_native_id"), threading.get_native_id())
    interpreter = call("PyInterpreterState_Head")
    check.same("thread_interp", check.at(state, "thread_interp"), interpreter)
    if VERSION >= (3, 7):
        runtime = ctypes.addressof(ctypes.c_char.in_dll(api, "_PyRuntime"))
        check.same("runtime_interpreters_head", check.at(runtime, "runtime_interpreters_head"), interpreter)
        if check.has("runtime_gilstate_current"):
            check.same("runtime_gilstate_current", check.at(runtime, "runtime_gilstate_current"), state)
    check.same("interp_next", check.at(interpreter, "interp_next"), 0)
    if check.has("interp_gil"):  # it begins with the interval, then its last holder
        check.same("interp_gil", pointer(check.at(interpreter, "interp_gil") + 8), state)
    check_threads(check, interpreter, state)


def check_threads(check, interpreter, state):
    """All thread states hang together, the newest first."""
    ready, done = threading.Event(), threading.Event()
    worker = threading.Thread(target=lambda: (ready.set(), done.wait()))
    worker.start()
    ready.wait()
    newest = check.at(interpreter, "interp_threads_head")
    check.same("interp_threads_head", check.at(newest, "thread_id"), worker.ident)
    check.same("thread_next", check.at(newest, "thread_next"), state)
    done.set()
    worker.join()


def check_collector(check):
    field = "interp_gc_collecting" if check.has("interp_gc_collecting") else "runtime_gc_collecting"
    if not check.has(field):
        return
    if field == "interp_gc_collecting":
        base = call("PyInterpreterState_Head")
    else:
        base = ctypes.addressof(ctypes.c_char.in_dll(api, "_PyRuntime"))
    seen = []
    gc.callbacks.append(lambda phase, info: seen.append(check.at(base, field, "=i")))
    gc.collect()
    gc.callbacks.clear()
    check.same(field, (seen, check.at(base, field, "=i")), ([1, 1], 0))


def layout():
    """The layout that Heatline has for this very process."""
    probe = sys.argv[1]
    if VERSION < (3, 13):
        command = [probe, "layout", str(VERSION[0] << 8 | VERSION[1])]
    else:
        runtime = ctypes.addressof(ctypes.c_char.in_dll(api, "_PyRuntime"))
        command = [probe, "published", str(os.getpid()), str(runtime)]
    output = subprocess.check_output(command).decode()
    return {name: int(value) for name, value in (line.split() for line in output.splitlines())}


def main():
    check = Checker(layout())
    check.same("version", check.layout["version"], VERSION[0] << 8 | VERSION[1])
    check_objects(check)
    check_strings(check)
    check_code(check)
    check_names(check)
    check_frame_object(check) if VERSION < (3, 11) else check_frame(check)
    check_thread(check)
    check_collector(check)
    for line in check.wrong:
        print(line)
    print("checked", check.checked)
    sys.exit(bool(check.wrong))


main()
