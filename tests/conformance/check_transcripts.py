#!/usr/bin/env python3
"""Compares REPL sessions with transcripts of the original implementation: check_transcripts.py PATH-TO-rasp.

Every repl/NAME.in is fed to `rasp`; what it prints must be repl/NAME.out, up to layout that carries no
meaning: blank lines, indentation, and the spacing inside of list and dict lines."""
import difflib
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "repl"
LEAST_SESSIONS = 8


def normalised(text):
    lines = (line.strip() for line in text.splitlines())
    return [" ".join(line.split()) if line.startswith(("list:", "dict:")) else line for line in lines if line]


def main():
    sessions = sorted(FOLDER.glob("*.in"))
    if len(sessions) < LEAST_SESSIONS:
        sys.exit(f"{len(sessions)} sessions were found, {LEAST_SESSIONS} were expected")
    failed = 0
    for session in sessions:
        run = subprocess.run([sys.argv[1]], input=session.read_bytes(), capture_output=True, timeout=120)
        got = normalised(run.stdout.decode())
        want = normalised(session.with_suffix(".out").read_text(encoding="utf-8"))
        difference = list(difflib.unified_diff(want, got, f"{session.stem}: expected", "got", lineterm=""))
        if run.returncode != 0 or run.stderr:
            difference.append(f"{session.stem}: status {run.returncode}: {run.stderr.decode()}")
        if difference:
            failed += 1
            print("\n".join(difference))
    print(f"{len(sessions) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
