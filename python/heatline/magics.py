"""``%load_ext heatline``: profiling in IPython and notebooks.

    %heatline f(10)          profile a statement
    %%heatline               on a cell's first line: profile the cell

``%%heatline`` does not run the cell itself, as cell magics do: an input transformer makes its first line a
call that starts the profiler, and the cell runs on as any other.  So its lines keep their numbers, it may
``await``, and its value is shown.  The profiler is stopped when IPython says that the cell has ended,
however it did."""

import argparse
import ast
import inspect
import linecache
import shlex
import sys
from typing import Any, Dict, List, NoReturn, Optional, Tuple

import IPython.display
from IPython.core.error import UsageError

import heatline
from heatline import _cells, _show
from heatline.results import Profile

STATEMENT = "<statement>"  # the name that the statement of %heatline is compiled under
BEGIN = "_heatline_begin"  # the line magic that a cell's first line becomes

_Shell = Any
_display: Any = IPython.display.display


class Shown:
    """A profile as a cell's output: as many lines as asked for, with or without the page."""

    def __init__(self, profile: Profile, options: argparse.Namespace) -> None:
        self.profile, self.options = profile, options

    def __repr__(self) -> str:
        return self.profile.summary(self.options.top)

    def _repr_html_(self) -> str:
        return _show.as_html(self.profile, top=self.options.top, with_page=self.options.page)


class Comparison:
    """What changed since another profile, as a cell's output."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _show.preformatted(self.text)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError("heatline: %s; %%heatline? tells the options" % message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%%heatline", add_help=False, allow_abbrev=False)
    parser.add_argument("--cpu-only", "--cpu", action="store_true", help="time only, no memory")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="lines in the table (default: 10)")
    parser.add_argument("--no-page", dest="page", action="store_false", help="the table only, without the page")
    parser.add_argument(
        "--compare", metavar="last|NAME", help="what changed since the last profile, or since that in a variable"
    )
    parser.add_argument("-o", "--output", metavar="NAME", help="keep the Profile in this variable")
    parser.add_argument("--save", metavar="FILE", help="write the profile to this file too")
    return parser


class Magics:
    """The magics of one IPython."""

    def __init__(self, shell: _Shell) -> None:
        self.shell = shell
        self.last: Optional[Profile] = None
        self.running: Optional[argparse.Namespace] = None
        self.inner_cells = 0
        self.cell_names = ["heatline"]

    def line(self, line: str) -> None:
        """Profile a statement: %heatline [options] statement"""
        options, statement = self._read_line(line)
        code = self._compiled(statement)
        self._start(options)
        try:
            exec(code, self.shell.user_ns)
        finally:
            self._finish()

    def cell(self, line: str, cell: str) -> None:
        """Profile a cell: %%heatline [options] on its first line

        This is only for a cell that begins with another magic; any other is transformed."""
        self._start(self._options(_words(line)))
        try:
            self.shell.run_cell(cell)
        finally:
            self._finish()

    def begin(self, line: str) -> None:
        """Start profiling the cell that this is the first line of."""
        self._start(self._options(_words(line)))
        self.inner_cells = 0
        self.shell.events.register("pre_execute", self._inner_cell_begins)
        self.shell.events.register("post_execute", self._cell_ends)

    def transform(self, lines: List[str]) -> List[str]:
        """The cell's first line, where it is ``%%heatline``, as a call; the line count stays the same."""
        first = lines[0].strip() if lines else ""
        word, _, rest = first.partition(" ")
        if not word.startswith("%%") or word[2:] not in self.cell_names or rest.strip() == "?":
            return lines
        if len(lines) > 1 and lines[1].startswith("%%"):
            return lines
        return ["get_ipython().run_line_magic(%r, %r)\n" % (BEGIN, rest), *lines[1:]]

    def close(self) -> None:
        """Give back all that was registered."""
        if self.transform in self.shell.input_transformers_cleanup:
            self.shell.input_transformers_cleanup.remove(self.transform)
        if self.running is not None:
            self._forget_events()
            self.running = None
            heatline.stop()

    def _inner_cell_begins(self) -> None:
        self.inner_cells += 1

    def _cell_ends(self) -> None:
        if self.inner_cells > 0:
            self.inner_cells -= 1
            return
        self._forget_events()
        self._finish()

    def _forget_events(self) -> None:
        for event, callback in (("pre_execute", self._inner_cell_begins), ("post_execute", self._cell_ends)):
            try:
                self.shell.events.unregister(event, callback)
            except ValueError:
                pass  # a statement has none

    def _start(self, options: argparse.Namespace) -> None:
        if self.running is not None:
            raise UsageError("heatline: this cell is being profiled already")
        self._find_before(options.compare)
        try:
            heatline.start(cpu_only=options.cpu_only)
        except (OSError, RuntimeError) as error:
            raise UsageError("heatline: %s" % error) from None
        self.running = options

    def _finish(self) -> None:
        options, self.running = self.running, None
        assert options is not None
        try:
            profile = heatline.stop()
        except RuntimeError as error:  # the cell has stopped it itself, or the collector was killed
            print("heatline: this cell has no profile: %s" % error, file=sys.stderr)
            return
        before = self._find_before(options.compare)
        self.last = profile
        if options.output:
            self.shell.user_ns[options.output] = profile
        if before is not None:
            _display(Comparison(profile.compare(_cells.match_cells(before, profile))))
        _display(Shown(profile, options))
        if options.save:
            try:
                profile.save(options.save)
            except OSError as error:
                print("heatline: cannot save the profile to %s: %s" % (options.save, error.strerror), file=sys.stderr)

    def _find_before(self, name: Optional[str]) -> Optional[Profile]:
        """The profile to compare with; None: none was asked for, or there is no last one yet."""
        if name is None or name == "last":
            return self.last if name else None
        value = self.shell.user_ns.get(name)
        if not isinstance(value, Profile):
            raise UsageError("heatline: --compare takes last, or a variable that holds a Profile; %s does not" % name)
        return value

    def _options(self, words: List[str]) -> argparse.Namespace:
        options, rest = _parser().parse_known_args(words)
        if rest:
            raise UsageError("heatline: '%s' is no option of it; %%heatline? tells the options" % rest[0])
        return options

    def _read_line(self, line: str) -> Tuple[argparse.Namespace, str]:
        """The options that come first, and the statement, which is Python and not cut into words."""
        words: List[str] = []
        statement = line.strip()
        with_value = {"--top", "--compare", "-o", "--output", "--save"}
        while statement.startswith("-"):
            word, _, statement = statement.partition(" ")
            words.append(word)
            statement = statement.lstrip()
            if word in with_value:
                value, _, statement = statement.partition(" ")
                words.append(value)
                statement = statement.lstrip()
        if not statement:
            raise UsageError("heatline: a statement is missing: %heatline f(10); for a cell: %%heatline")
        return self._options(words), statement

    def _compiled(self, statement: str) -> Any:
        text = self.shell.transform_cell(statement)
        linecache.cache[STATEMENT] = (len(text), None, text.splitlines(keepends=True), STATEMENT)
        code = compile(text, STATEMENT, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        if code.co_flags & inspect.CO_COROUTINE:
            raise UsageError("heatline: a statement that awaits needs a cell of its own: %%heatline")
        return code


def _words(line: str) -> List[str]:
    try:
        return shlex.split(line)
    except ValueError as error:  # a quote that is not closed
        raise UsageError("heatline: %s: %s" % (error, line)) from None


def _documentation(usage: str) -> str:
    parser = _parser()
    parser.usage = usage.replace("%", "%%")
    return parser.format_help()


def load_ipython_extension(shell: _Shell) -> None:
    """What ``%load_ext heatline`` calls."""
    if shell in _loaded:
        return
    magics = _loaded[shell] = Magics(shell)

    def heatline_line(line: str) -> None:
        magics.line(line)

    def heatline_cell(line: str, cell: str) -> None:
        magics.cell(line, cell)

    heatline_line.__doc__ = _documentation("%heatline [options] statement")
    heatline_cell.__doc__ = _documentation("%%heatline [options]    on the first line of a cell")
    shell.register_magic_function(heatline_line, "line", "heatline")
    shell.register_magic_function(heatline_cell, "cell", "heatline")
    shell.register_magic_function(magics.begin, "line", BEGIN)
    # Scalene's names, where Scalene has not taken them.
    if "scrun" not in shell.magics_manager.magics["line"]:
        shell.register_magic_function(heatline_line, "line", "scrun")
    if "scalene" not in shell.magics_manager.magics["cell"]:
        shell.register_magic_function(heatline_cell, "cell", "scalene")
        magics.cell_names.append("scalene")
    transforms = shell.input_transformers_cleanup
    names = [getattr(transform, "__name__", "") for transform in transforms]
    transforms.insert(names.index("cell_magic") if "cell_magic" in names else len(names), magics.transform)


def unload_ipython_extension(shell: _Shell) -> None:
    """What ``%unload_ext heatline`` calls."""
    magics = _loaded.pop(shell, None)
    if magics is None:
        return
    magics.close()
    table: Dict[str, Dict[str, Any]] = shell.magics_manager.magics
    for names in table.values():
        for name in [name for name, magic in names.items() if getattr(magic, "__module__", None) == __name__]:
            del names[name]


_loaded: Dict[_Shell, Magics] = {}
