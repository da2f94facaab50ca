#!/usr/bin/env python3
"""Make the assembler file that puts the page into the executable, gzipped.

    embed.py ASSETS.S [INDEX.HTML APP.JS APP.CSS]

Without the three files the executable has no page.  Beside what the server sends there is a
fourth part, standalone.html: index.html with its style and script tags replaced by the marks at
which src/serve/standalone.c puts the parts and the profile, and with a content security policy
that permits this one script and this one style by their hashes and forbids every request.
The same input gives the same bytes.
"""

import base64
import gzip
import hashlib
import re
import sys
from pathlib import Path

NAMES = ("index.html", "app.js", "app.css", "standalone.html")
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


def fail(sentence: str) -> None:
    sys.exit(f"embed.py: {sentence}")


def digest(data: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode()


def replace_once(pattern: str, replacement: str, page: str, what: str) -> str:
    page, count = re.subn(pattern, lambda _: replacement, page, flags=re.IGNORECASE)
    if count != 1:
        fail(f"index.html has {count} {what}, and should have one")
    return page


def make_standalone(index: bytes, script: bytes, style: bytes) -> bytes:
    """index.html with marks; see standalone.h."""
    page = index.decode("utf-8")
    if re.search(rb"</script|<!--", script, re.IGNORECASE) or b"</style" in style.lower():
        fail("the script or the style has in it what would end it in a page")
    policy = POLICY.format(script=digest(script), style=digest(style))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    page = replace_once(r"<head>", "<head>" + meta, page, "<head>")
    page = replace_once(r"<link[^>]*href=\"(\./)?app\.css\"[^>]*>", "<!--style-->", page, "style")
    # An inline script runs where it stands: it goes behind the data, to the end.
    page = replace_once(r"<script[^>]*src=\"(\./)?app\.js\"[^>]*>\s*</script>", "", page, "script")
    return replace_once(r"</body>", "<!--data--><!--script--></body>", page, "</body>").encode()


def assembler(folder: Path, parts: dict) -> str:
    lines = ["/* made by embed.py */", '\t.section .rodata, "a", %progbits']
    for number, name in enumerate(NAMES):
        lines += ["\t.balign 16", f"\t.globl heatline_asset_{number}, heatline_asset_{number}_end"]
        lines.append(f"heatline_asset_{number}:")
        if name in parts:
            packed = folder / f"{name}.gz"
            packed.write_bytes(gzip.compress(parts[name], 9, mtime=0))
            lines.append(f'\t.incbin "{packed.resolve()}"')
        lines.append(f"heatline_asset_{number}_end:")
        lines.append("\t.byte 0")
    lines.append('\t.section .note.GNU-stack, "", %progbits')
    return "\n".join(lines) + "\n"


def main(output: str, *inputs: str) -> None:
    parts = {Path(path).name: Path(path).read_bytes() for path in inputs}
    if parts:
        missing = set(NAMES[:3]) - set(parts)
        if missing:
            fail(f"missing: {', '.join(sorted(missing))}")
        index, script, style = (parts[name] for name in NAMES[:3])
        parts["standalone.html"] = make_standalone(index, script, style)
    Path(output).write_text(assembler(Path(output).parent, parts), encoding="utf-8")


main(*sys.argv[1:])
