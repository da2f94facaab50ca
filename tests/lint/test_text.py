"""What no file of the repository may hold: paths of somebody's machine, notes to oneself."""

import re

from support.sources import relative, repository_files

# Written in pieces, so that this file does not find itself.
FORBIDDEN = {
    re.compile(r"(?<![\w.~$}/-])/(?:work|root|opt/pypi)" + r"(?:/|\b)(?!-)"): "a path of one machine",
    re.compile(r"(?<![\w.])/home/(?!user\b|you\b|me\b|runner\b)\w+"): "a path of one machine",
    re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b"): "a note to oneself",
    re.compile(r"^(?:<{7}|>{7}|={7})(?: |$)"): "a merge left half way",
    re.compile(r"\bdeb\.deb" + r"ian\.org\b"): "a mirror's name",
}


def test_no_file_holds_what_it_should_not():
    wrong = []
    for path in repository_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, what in FORBIDDEN.items():
                if pattern.search(line):
                    wrong.append(f"{relative(path)}:{number}: {what}: {line.strip()[:80]}")
    assert not wrong, "\n" + "\n".join(wrong)
