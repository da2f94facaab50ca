"""A profile as text and as HTML.

Both are made of the same rows.  The HTML is a plain table with inline styles and no script, which is what
a notebook that is not trusted keeps; below it the page stands in a frame of its own that needs no server
and can reach nothing of the notebook around it."""

import html
import os
from typing import TYPE_CHECKING, List, NamedTuple, Tuple

if TYPE_CHECKING:
    from heatline.results import Line, Profile

FRAME_MAX_BYTES = 2 << 20  # what one output may add to a notebook's file
BAR_CELLS = 12
PLACE_CELLS = 40
HARMLESS = "\u00a0\u200d\u3000"  # spaces, and the joiner of emoji, which Python does not call printable
KINDS = (  # glyph, name, field of Line
    ("█", "Python", "python_s"),
    ("▓", "native", "native_s"),
    ("▒", "system", "system_s"),
    ("░", "waiting", "wait_s"),
)


class Row(NamedTuple):
    share: str
    seconds: str
    bar: str
    memory: str
    gpu: str
    place: str
    text: str


def as_text(profile: "Profile", top: int) -> str:
    rows = _rows(profile, top)
    out = ["heatline  " + _heading(profile)]
    if _legend(profile):
        out.append("  " + _legend(profile))
    if rows:
        out.append("")
    shown = _columns(profile, rows)
    widths = [max([len(title), *(len(getattr(row, key)) for row in rows)]) for key, title in shown]
    if rows:
        out.append(_text_line([title for _, title in shown], widths, shown))
    out += [_text_line([getattr(row, key) for key, _ in shown], widths, shown) for row in rows]
    out += ["  " + note for note in _notes(profile, rows)]
    return "\n".join(map(_plain, out))


def as_html(profile: "Profile", top: int = 10, with_page: bool = True) -> str:
    return "<div>%s%s</div>" % (_table(profile, top), _frame(profile) if with_page else "")


def preformatted(text: str) -> str:
    """Text for a terminal as HTML."""
    return '<pre style="line-height:1.3">%s</pre>' % html.escape(text)


def place(file: str, line: int) -> str:
    """Where a line is, as people say it: ``Cell [12] line 3``, ``folder/file.py:7``."""
    if file.startswith("Cell ["):
        return "%s line %d" % (file, line)
    near = os.path.relpath(file) if os.path.isabs(file) else file
    if near.startswith(".."):
        near = file
    if len(near) > PLACE_CELLS:  # the end says more than the beginning
        near = "…" + near[1 - PLACE_CELLS :]
    return "%s:%d" % (near, line)


def _plain(text: str) -> str:
    """Source and names as a terminal may have them: what would steer it, or turn the reading around, is escaped."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in HARMLESS else " " if char == "\t" else char.encode("unicode_escape").decode()
        for char in text
    )


def seconds(value: float) -> str:
    """``4.21 s``, ``45 ms``, ``3.0 min``."""
    if value < 0.0005:
        return "0 ms" if value <= 0 else "<1 ms"
    if value < 0.0995:
        return "%.0f ms" % (value * 1000)
    if value < 99.95:
        return "%.2f s" % value if value < 9.995 else "%.1f s" % value
    return "%.1f min" % (value / 60) if value < 5970 else "%.1f h" % (value / 3600)


def megabytes(value: float) -> str:
    """``85 KB``, ``3.4 MB``, ``512 MB``, ``1.2 GB``."""
    if value < 0.0005:
        return ""
    if value < 0.9995:
        return "%.0f KB" % (value * 1024)
    if value < 1000:
        return "%.1f MB" % value if value < 9.95 else "%.0f MB" % value
    return "%.1f GB" % (value / 1024)


def percent(part: float, whole: float) -> str:
    share = 100 * part / whole if whole > 0 else 0
    return "" if share <= 0 else "<1%" if share < 1 else "%.0f%%" % share


def hottest(profile: "Profile", top: int) -> List["Line"]:
    """The lines to show: by time from one percent on, and the few that hold a good part of the memory."""
    lines = profile.lines
    by_time = [line for line in lines[:top] if line.percent >= 1] or lines[: min(top, 1)]
    heavy = sorted(lines, key=lambda line: -line.peak_mb)[:3]
    limit = max(1.0, 0.1 * profile.peak_mb)
    return by_time + [line for line in heavy if line.peak_mb >= limit and line not in by_time][: max(0, top - 1)]


def _rows(profile: "Profile", top: int) -> List[Row]:
    lines = hottest(profile, top)
    full = max([line.seconds for line in lines], default=0.0)
    return [
        Row(
            percent(line.seconds, profile.total_s),
            seconds(line.seconds) if line.seconds else "",
            _bar(line, full),
            megabytes(line.peak_mb),
            seconds(line.gpu_s) if line.gpu_s else "",
            place(line.file, line.line),
            line.text,
        )
        for line in lines
    ]


def _bar(line: "Line", full: float) -> str:
    """A bar that is full at ``full`` seconds, one glyph for each kind of time."""
    bar, upto = "", 0.0
    for glyph, _, key in KINDS:
        upto += getattr(line, key)
        bar += glyph * (round(BAR_CELLS * upto / full) - len(bar) if full > 0 else 0)
    return bar


def _columns(profile: "Profile", rows: List[Row]) -> List[Tuple[str, str]]:
    """(field of Row, title) of what there is to show."""
    shown = [("share", "share"), ("seconds", "time"), ("bar", "")]
    if profile.has_memory:
        shown.append(("memory", "peak"))
    if any(row.gpu for row in rows):
        shown.append(("gpu", "GPU"))
    return shown + [("place", "line"), ("text", "source")]


def _is_number(key: str) -> bool:
    return key in ("share", "seconds", "memory", "gpu")


def _text_line(values: List[str], widths: List[int], shown: List[Tuple[str, str]]) -> str:
    cells = [
        value.rjust(width) if _is_number(key) else value.ljust(width)
        for value, width, (key, _) in zip(values, widths, shown)
    ]
    return ("  " + "  ".join(cells)).rstrip()


def _heading(profile: "Profile") -> str:
    peak = ", memory peak %s" % megabytes(profile.peak_mb) if profile.peak_mb else ""
    name = os.path.basename(profile.program) or profile.program
    return "%sran %s%s" % (name + "  " if name else "", seconds(profile.elapsed_s), peak)


def _legend(profile: "Profile") -> str:
    sums = [(glyph, name, profile.seconds_of(key)) for glyph, name, key in KINDS]
    return "  ".join(
        "%s %s %s (%s)" % (glyph, name, seconds(value), percent(value, profile.total_s))
        for glyph, name, value in sums
        if value > 0
    )


def _notes(profile: "Profile", rows: List[Row]) -> List[str]:
    advice = ["Advice: %s  %s" % (place(*where), title) for where, title in profile.advice[:3]]
    notes = advice + profile.warnings
    if not rows:
        notes = ["It ended before a sample could be taken in its own lines.", *notes]
    return notes


def _table(profile: "Profile", top: int) -> str:
    rows = _rows(profile, top)
    shown = _columns(profile, rows)
    edge = "padding:2px 10px 2px 0;white-space:pre;font-family:monospace;text-align:"

    def cell(tag: str, key: str, value: str) -> str:
        side = "right" if _is_number(key) else "left"
        return '<%s style="%s%s">%s</%s>' % (tag, edge, side, html.escape(value), tag)

    head = "".join(cell("th", key, title) for key, title in shown)
    body = "".join(
        "<tr>%s</tr>" % "".join(cell("td", key, getattr(row, key)) for key, _ in shown) for row in rows
    )
    above = "<div><b>heatline</b> %s</div><div>%s</div>" % (html.escape(_heading(profile)), _legend(profile))
    below = "".join("<div>%s</div>" % html.escape(note) for note in _notes(profile, rows))
    table = "<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>" % (head, body) if rows else ""
    return above + table + below


def _frame(profile: "Profile") -> str:
    """The page in a frame; a sentence where it cannot be had."""
    try:
        page = profile.to_html()
        if len(page) > FRAME_MAX_BYTES:
            page = profile.to_html(reduced=True)
    except (OSError, RuntimeError) as error:
        return "<div>%s</div>" % html.escape("The page cannot be shown: %s" % error)
    if len(page) > FRAME_MAX_BYTES:
        return "<div>The page is too large for a notebook: save the profile, then <code>heatline view</code> it.</div>"
    return (
        '<details open><summary>Every line, flame graph, timeline, memory</summary><iframe title="Heatline"'
        ' sandbox="allow-scripts allow-downloads allow-popups" srcdoc="%s"'
        ' style="width:100%%;height:600px;border:0;resize:vertical;overflow:auto"></iframe></details>'
    ) % html.escape(page)
