#!/usr/bin/env python3
"""Runs golden cases (README.md beside this file): run.py PATH-TO-rasp [--rebase] [CASE...]."""
import argparse
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 120  # seconds; a sanitizer's build is slow
MASKS = [(re.compile(r"compiled in \S+ s\b"), "compiled in {time} s"),
         (re.compile(r'"seconds": [-+.0-9e]+'), '"seconds": {time}')]
NO_NEWLINE = "--- no newline at end\n"
CRASH = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error: ")


class Case:
    """The parsed text of one case."""

    def __init__(self, path):
        self.path = path
        self.head = []      # lines in front of the first section
        self.sections = []  # [title, text]
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line == NO_NEWLINE:
                self.sections[-1][1] = self.sections[-1][1].removesuffix("\n")
            elif line.startswith("--- "):
                self.sections.append([line[4:].rstrip("\n"), ""])
            elif self.sections:
                self.sections[-1][1] += line
            else:
                self.head.append(line)

    def fields(self, name):
        prefix = name + ":"
        return [line[len(prefix):].strip() for line in self.head if line.startswith(prefix)]

    def section(self, title):
        return next((text for known, text in self.sections if known == title), "")

    def files(self):
        return ([(title[5:], text.encode()) for title, text in self.sections if title.startswith("file ")] +
                [(title[6:], bytes.fromhex(text)) for title, text in self.sections if title.startswith("bytes ")])

    def with_result(self, status, stdout, stderr):
        """The text of the case as it would be had it expected this."""
        head = [line for line in self.head if not line.startswith("status:")]
        last = max(i for i, line in enumerate(head) if line.startswith("args:"))
        head.insert(last + 1, f"status: {status}\n")
        kept = [s for s in self.sections if s[0] not in ("stdout", "stderr")]
        text = "".join(head)
        for title, body in kept + [["stdout", stdout], ["stderr", stderr]]:
            if title in ("stdin", "stdout", "stderr") and not body:
                continue
            text += f"--- {title}\n{body}"
            if not body.endswith("\n") and body:
                text += "\n" + NO_NEWLINE
        return text


def execute(case, binary):
    """(status, stdout, stderr) of the last command, masked; or raises ValueError for a crash."""
    commands = case.fields("args")
    if not commands:
        raise ValueError("the case has no args: line")
    environment = {**os.environ, "NO_COLOR": "1", **dict(v.split("=", 1) for v in case.fields("env"))}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in case.files():
            target = pathlib.Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
        for i, command in enumerate(commands):
            last = i + 1 == len(commands)
            words = [word.replace("{dir}", folder) for word in shlex.split(command)]
            run = subprocess.run([binary, *words], cwd=folder, capture_output=True, timeout=TIMEOUT,
                                 input=case.section("stdin").encode() if last else b"", env=environment)
            out, err = (text.decode("utf-8", "backslashreplace") for text in (run.stdout, run.stderr))
            if not 0 <= run.returncode <= 2 or CRASH.search(err) or (not last and run.returncode != 0):
                raise ValueError(f"`rasp {command}` ended with status {run.returncode}:\n{out}{err[-3000:]}")
        result = []
        for text in (out, err):
            text = text.replace(folder, "{dir}")
            for pattern, mask in MASKS + [(re.compile(mask), "{masked}") for mask in case.fields("mask")]:
                text = pattern.sub(mask, text)
            result.append(text)
        return run.returncode, result[0], result[1]


def check(path, binary, rebase):
    """None, or what differs."""
    case = Case(path)
    try:
        text = case.with_result(*execute(case, binary))
    except (ValueError, subprocess.TimeoutExpired) as problem:
        return f"{path}: {problem}"
    want = path.read_text(encoding="utf-8")
    if text == want:
        return None
    if rebase:
        path.write_text(text, encoding="utf-8")
    return "".join(difflib.unified_diff(want.splitlines(True), text.splitlines(True),
                                        f"{path}: expected", f"{path}: got"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--rebase", action="store_true", help="write what came out into the cases")
    parser.add_argument("cases", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    binary = str(pathlib.Path(arguments.binary).resolve())
    cases = arguments.cases or sorted(HERE.rglob("*.txt"))
    if not cases:
        sys.exit("no golden case was found")
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for difference in pool.map(lambda path: check(path, binary, arguments.rebase), cases):
            if difference:
                failed += 1
                print(difference)
    print(f"{len(cases) - failed} passed, {failed} {'rebased or ' if arguments.rebase else ''}failed")
    sys.exit(1 if failed and not arguments.rebase else 0)


if __name__ == "__main__":
    main()
