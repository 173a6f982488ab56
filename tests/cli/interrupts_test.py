#!/usr/bin/env python3
"""Ctrl-C in the middle of one long evaluation ends it, wherever it runs: interrupts_test.py PATH-TO-rasp."""
import pathlib
import signal
import subprocess
import sys
import time

from terminal_test import Terminal, expect, run_tests

# Minutes of work on a single input.
LONG = """long = indices;
for i in range(3000) {
  long = aggregate(select(indices, indices, <=), long + i);
}
"""
PUZZLE = """puzzle long() { "x" vocab "a"; length 20000 to 20000; spec long == 1; }
puzzle later() { "x" vocab "a"; length 1 to 3; spec later == tokens; }
later = tokens;
"""


def interrupt(home, *arguments):
    """The exit status and what was printed, a signal half a second after the start."""
    command = subprocess.Popen([sys.argv[1], *arguments], cwd=home, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    time.sleep(0.5)
    command.send_signal(signal.SIGINT)
    start = time.monotonic()
    printed, _ = command.communicate(timeout=120)
    expect(time.monotonic() - start < 30, f"{arguments} ends soon")
    return command.returncode, printed


def test_run(home):
    pathlib.Path(home, "long.rasp").write_text(LONG)
    status, printed = interrupt(home, "run", "long.rasp", "--show", "long", "--input", "a" * 20000)
    expect(status == -signal.SIGINT and printed == "", f"{status}: {printed}")


def test_verify(home):
    pathlib.Path(home, "puzzle.rasp").write_text(PUZZLE + LONG)
    status, printed = interrupt(home, "verify", "puzzle.rasp")
    expect(status == 130 and "long: interrupted" in printed and "later" in printed, f"{status}: {printed}")


def test_session(home):
    pathlib.Path(home, "long.rasp").write_text(LONG)
    terminal = Terminal(home, NO_COLOR="1")
    terminal.wait_for(r">> ")
    terminal.send(f'set example "{"a" * 3000}"\n')
    terminal.wait_for(r">> ")
    terminal.send('load "long";\n')
    terminal.wait_for(r">> ")
    terminal.send("long;\n")
    time.sleep(0.5)
    terminal.send("\x03")
    terminal.wait_for(r"interrupted")
    terminal.wait_for(r">> ")
    terminal.send("1 + 1;\n")
    terminal.wait_for(r"value: out = +2")
    terminal.send(":quit\n")
    expect(terminal.leave() == 0, "the session goes on")


if __name__ == "__main__":
    run_tests(globals(), 3)
