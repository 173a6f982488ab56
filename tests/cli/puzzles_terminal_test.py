#!/usr/bin/env python3
"""Puzzles at a terminal: progress, Ctrl-C, watching: puzzles_terminal_test.py PATH-TO-rasp."""
import os
import pathlib
import time

from terminal_test import Terminal, expect, run_tests

# Sorting again and again, on 597,870 inputs: a minute of work, of which the test sees a second.
LONG = """puzzle quick() { "x" vocab "ab"; length 1 to 3; spec quick == tokens; }
quick = tokens;
puzzle slow() { "x" vocab "abcdefghi"; length 1 to 6; spec slow == sort(tokens, tokens); }
slow = sort(tokens, tokens);
for i in range(40) { slow = sort(slow, slow); }
puzzle later() { "x" vocab "ab"; length 1 to 3; spec later == tokens; }
later = tokens;
"""
PUZZLE = 'puzzle p() { "x" vocab "ab"; length 1 to 3; spec p == tokens[0]; }\n'


def write(path, text, age):
    """Saves a file whose time differs from that of earlier saves, however fast they come."""
    path.write_text(text)
    stamp = time.time() + age
    os.utime(path, (stamp, stamp))


def test_progress_and_control_c(home):
    pathlib.Path(home, "long.rasp").write_text(LONG)
    terminal = Terminal(home, "verify", "long.rasp", NO_COLOR="1")
    terminal.wait_for(r"slow, \w+ [█░]+ \d+ of 597870 inputs, \d+ a second")
    terminal.send("\x03")
    terminal.wait_for(r"slow: interrupted: no mistake so far")
    terminal.wait_for(r"quick +passed +14 .*\r\nslow +interrupted +[1-9]\d* .*\r\nlater +interrupted +0 ")
    expect(terminal.leave() == 130, "Ctrl-C ends with 130")


def test_colours(home):
    pathlib.Path(home, "good.rasp").write_text(PUZZLE + "p = tokens[0];\n")
    terminal = Terminal(home, "verify", "good.rasp")
    terminal.wait_for("p +\x1b\\[32mpassed *\x1b\\[0m")
    expect(terminal.leave() == 0, "it passes")


def test_watch(home):
    path = pathlib.Path(home, "p.rasp")
    write(path, PUZZLE + "p = tokens;\n", 0)
    terminal = Terminal(home, "watch", "p.rasp", NO_COLOR="1")
    terminal.wait_for(r"p +failed +4 ")
    terminal.wait_for(r"watching p\.rasp")
    write(path, PUZZLE + "p = tokens[0;\n", 10)
    terminal.wait_for(r"syntax error")
    terminal.wait_for(r"watching p\.rasp")
    path.unlink()  # as some editors do while they save
    time.sleep(0.5)
    write(path, PUZZLE + "p = tokens[0];\n", 20)
    terminal.wait_for(r"p +passed +14 ")
    terminal.wait_for(r"watching p\.rasp")
    terminal.send("\x03")
    expect(terminal.leave() == 0, "Ctrl-C ends watching")


if __name__ == "__main__":
    run_tests(globals(), 3)
