#!/usr/bin/env python3
"""The REPL at a terminal, through a pseudo-terminal: terminal_test.py PATH-TO-rasp."""
import os
import pathlib
import pty
import re
import select
import sys
import tempfile
import time

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
PATIENCE = 60  # seconds for anything to appear


class Terminal:
    """A session of the command at a terminal of its own."""

    def __init__(self, home, *arguments, **environment):
        self.seen = ""
        self.status = None
        # libedit keeps wide copies of lines beyond its end: no leak of ours (only a sanitizer build reads this).
        variables = {"ASAN_OPTIONS": "detect_leaks=0", "HOME": home, "PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8", **environment}
        variables.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(home)
            os.execve(BINARY, [BINARY, *arguments], variables)

    def send(self, text):
        os.write(self.fd, text.encode())

    def wait_for(self, pattern):
        """Reads until the pattern is there; gives what came up to its end, and keeps the rest."""
        end = time.monotonic() + PATIENCE
        while True:
            match = re.search(pattern, self.seen)
            if match:
                taken, self.seen = self.seen[:match.end()], self.seen[match.end():]
                return taken
            if time.monotonic() > end or not self.read(end - time.monotonic()):
                sys.exit(f"waited for {pattern!r}, got {self.seen!r}")

    def read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            block = os.read(self.fd, 65536)
        except OSError:  # the other side is closed
            return False
        self.seen += block.decode("utf-8", "replace")
        return bool(block)

    def leave(self):
        """The exit status; everything that was printed until then is in `seen`."""
        while self.read(PATIENCE):
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def run_tests(names, count):
    """Runs the `count` functions of a script that are called test_..., each in a home of its own."""
    tests = [value for name, value in sorted(names.items()) if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory() as home:
            test(home)
        print(f"{test.__name__}: passed")
    expect(len(tests) == count, "every test ran")


def test_prompts_and_values(home):
    terminal = Terminal(home, NO_COLOR="1")
    banner = terminal.wait_for(r">> ")
    expect("running example" in banner and "\x1b[3" not in banner, f"banner without colours: {banner!r}")
    terminal.send("1 +\n")
    terminal.wait_for(r"\.\. ")
    terminal.send("2;\n")
    terminal.wait_for(r"value: out =  3")
    terminal.wait_for(r">> ")
    terminal.send("\x04")
    expect(terminal.leave() == 0, "Ctrl-D leaves with status 0")


def test_colours(home):
    terminal = Terminal(home)
    terminal.wait_for(r">> ")
    terminal.send("indices;\n")
    terminal.wait_for("\x1b\\[36ms-op:\x1b\\[0m indices")
    terminal.send("exit\n")
    expect(terminal.leave() == 0, "exit leaves with status 0")


def test_control_c(home):
    terminal = Terminal(home, NO_COLOR="1")
    terminal.wait_for(r">> ")
    terminal.send("x = (1 +\n")
    terminal.wait_for(r"\.\. ")
    terminal.send("never\x03")
    terminal.wait_for(r"\^C\s+>> ")
    terminal.send("7 * 6;\n")
    terminal.wait_for(r"value: out =  42")
    terminal.wait_for(r">> ")
    # A running statement is interrupted, and the session goes on. It may end before the key arrives.
    for pause in (0.05, 0.1, 0.2, 0.4, 0.6):
        terminal.send("for i in range(2000) { for j in range(2000) { k = i; } }\n")
        terminal.wait_for(r"\n")
        time.sleep(pause)
        terminal.send("\x03")
        ended = terminal.wait_for(r"interrupted here|the most that|>> ")
        if ended.endswith("interrupted here"):
            break
        time.sleep(1)
    expect("interrupted here" in ended, "a running statement is interrupted")
    terminal.wait_for(r">> ")
    terminal.send("5 * 5;\n")
    terminal.wait_for(r"value: out =  25\s+>> ")
    terminal.send("\x04")
    expect(terminal.leave() == 0, "Ctrl-D after Ctrl-C")


def test_completion(home):
    terminal = Terminal(home, NO_COLOR="1")
    terminal.wait_for(r">> ")
    terminal.send("histogram_of_tokens = 12345;\n")
    terminal.wait_for(r"12345\r\n")
    terminal.wait_for(r">> ")
    terminal.send("histog\t + 1;\n")
    terminal.wait_for(r"value: out =  12346")
    terminal.wait_for(r">> ")
    terminal.send("mark_\t\t")
    terminal.wait_for(r"mark_first_instance\s+mark_last_instance")
    terminal.send("\x03")
    terminal.wait_for(r"\^C\s+>> ")
    terminal.send("\x04")
    expect(terminal.leave() == 0, "after completion")


def test_history(home):
    state = os.path.join(home, "state")
    first = Terminal(home, NO_COLOR="1", XDG_STATE_HOME=state)
    first.wait_for(r">> ")
    first.send('"a line to remember";\n')
    first.wait_for(r"value: out = ")
    first.wait_for(r">> ")
    first.send("\x04")
    expect(first.leave() == 0, "first session")
    expect(os.path.exists(os.path.join(state, "rasp", "history")), "the history is in XDG_STATE_HOME")
    second = Terminal(home, NO_COLOR="1", XDG_STATE_HOME=state)
    second.wait_for(r">> ")
    second.send("\x1b[A\n")
    second.wait_for(r'value: out =  "a line to remember"\s+>> ')
    second.send("\x04")
    expect(second.leave() == 0, "second session")


def test_characters_beyond_ascii(home):
    terminal = Terminal(home, NO_COLOR="1")
    terminal.wait_for(r">> ")
    terminal.send('tokens("§ab");\n')
    terminal.wait_for(r"=  \[§, a, b\] \(strings\)\s+>> ")
    terminal.send("\x04")
    expect(terminal.leave() == 0, "after characters beyond ASCII")
    # Bytes that are no UTF-8 are dropped, what surrounds them is read.
    terminal = Terminal(home, NO_COLOR="1")
    terminal.wait_for(r">> ")
    os.write(terminal.fd, b'"a\xff\xc3b\xe2\x82\xac";\n')
    terminal.wait_for('value: out =  "ab€"\\s+>> ')
    terminal.send("\x04")
    expect(terminal.leave() == 0, "after bytes that are no characters")


def test_keys_at_any_moment(home):
    """Keys that come between a prompt and the terminal's raw mode, or just before the program sleeps."""
    for key in ("\x04", "\x03"):
        for pause in range(20):
            terminal = Terminal(home, NO_COLOR="1")
            terminal.wait_for(r">> ")
            terminal.send("1;\n")
            terminal.wait_for(r"value: out =  1")
            terminal.wait_for(r">> ")
            time.sleep(pause * 5e-5)
            terminal.send(key)
            if key == "\x03":
                terminal.wait_for(r"\^C\s+>> ")
                terminal.send("\x04")
            expect(terminal.leave() == 0, f"{key!r} after {pause} pauses")


if __name__ == "__main__":
    run_tests(globals(), 7)
