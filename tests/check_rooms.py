#!/usr/bin/env python3
"""Holds the rooms of src/ to their arrows: every `#include "room/..."` must be one that the table allows.

check_rooms.py SRC checks a tree (and, first, that the check itself catches what it must)."""
import pathlib
import re
import sys

# Which rooms a room may include, besides itself. Arrows are not followed further: what a room uses it names.
ALLOWED = {
    "base": set(),
    "value": {"base"},
    "syntax": {"base", "value"},
    "graph": {"base", "value"},
    "lang": {"base", "value", "syntax", "graph"},
    "interpreter": {"base", "value", "graph"},
    "model": {"base", "value"},
    "compiler": {"base", "value", "graph", "model"},
    "runtime": {"base", "value", "model"},
    "visual": {"base", "value", "graph", "model"},
    "verify": {"base", "value", "lang", "interpreter", "compiler", "runtime", "graph", "model"},
    "cli": {"base", "value", "syntax", "graph", "lang", "interpreter", "model", "compiler", "runtime",
            "visual", "verify"},
}
# The backends of the runtime do not know each other.
BACKENDS = ("cpu", "opencl", "cuda", "gpu", "reference")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([a-z_]+)/([^">]+)[">]', re.MULTILINE)
SOURCES = (".h", ".cc", ".cu", ".cl", ".inc")
LEAST_INCLUDES = 100  # fewer seen means that the check looks at the wrong place


def violations(path, text):
    """Lines of text, one for each forbidden include of src/`path`."""
    room = path.parts[0]
    if room not in ALLOWED:
        return [f"src/{path}: the room '{room}' is not in the table"], 0
    found, seen = [], 0
    for match in INCLUDE.finditer(text):
        target, rest = match.group(1), match.group(2)
        line = text.count("\n", 0, match.start(1)) + 1
        backend, other = path.parts[1], rest.split("/")[0]
        if target not in ALLOWED:
            continue  # a system's header
        seen += 1
        if target != room and target not in ALLOWED[room]:
            found.append(f"src/{path}:{line}: '{room}' may not include \"{target}/{rest}\"")
        elif room == target == "runtime" and backend in BACKENDS and other in BACKENDS and other != backend:
            found.append(f"src/{path}:{line}: the backend '{backend}' may not include '{other}'")
    return found, seen


def self_test():
    """The check catches what it must, and lets pass what it must."""
    cases = [
        ("interpreter/x.cc", '#include "compiler/compiler.h"', 1),
        ("compiler/x.cc", '#include "interpreter/interpreter.h"', 1),
        ("runtime/x.h", '#  include "graph/graph.h"', 1),
        ("model/x.h", '#include "graph/graph.h"', 1),
        ("visual/x.cc", '#include "runtime/backend.h"', 1),
        ("base/x.cc", '#include "value/atom.h"', 1),
        ("lang/x.cc", '#include "interpreter/interpreter.h"\n#include "cli/repl.h"', 2),
        ("runtime/cpu/x.cc", '#include "runtime/cuda/y.h"', 1),
        ("attic/x.cc", "", 1),
        ("lang/x.cc", '#include "graph/graph.h"\n#include <sys/stat.h>\n#include "lang/y.h"', 0),
        ("runtime/cpu/x.cc", '#include "runtime/backend.h"\n#include "runtime/cpu/y.h"', 0),
        ("cli/x.cc", '#include "compiler/compiler.h"', 0),
    ]
    for path, text, want in cases:
        got = len(violations(pathlib.Path(path), text)[0])
        if got != want:
            sys.exit(f"check_rooms.py is broken: {path} with {text!r} gives {got} violations, not {want}")


def main():
    self_test()
    root = pathlib.Path(sys.argv[1])
    found, includes = [], 0
    for path in sorted(root.rglob("*")):
        if path.suffix in SOURCES and path.is_file():
            wrong, seen = violations(path.relative_to(root), path.read_text(encoding="utf-8"))
            found += wrong
            includes += seen
    print("\n".join(found + [f"{includes} includes, {len(found)} forbidden"]))
    if includes < LEAST_INCLUDES:
        sys.exit(f"only {includes} includes were seen, at least {LEAST_INCLUDES} were expected")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
