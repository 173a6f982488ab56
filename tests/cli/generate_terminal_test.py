#!/usr/bin/env python3
"""`rasp generate` at a terminal: generate_terminal_test.py PATH-TO-rasp."""
import pathlib
import subprocess
import tempfile
import time

from terminal_test import BINARY, Terminal, expect

PROGRAM = 'next = "b" if tokens == "a" else "a";\n'
LENGTH = 65_536  # more than a terminal takes when nobody reads


def test_the_text_comes_as_it_is_made(home):
    terminal = Terminal(home, "generate", "m.safetensors", "--prompt", "ab", "--tokens", "1000000")
    terminal.wait_for("(ab){50}")
    time.sleep(0.3)  # now nobody reads, and the program waits in the middle of its text
    terminal.send("\x03")
    status = terminal.leave()
    expect(status == 130, f"Ctrl-C ends with 130, got {status}")
    expect(terminal.seen.endswith("\r\n"), f"the last line is ended: {terminal.seen[-80:]!r}")
    expect(len(terminal.seen) < LENGTH, "Ctrl-C came before the end")
    expect("rasp:" not in terminal.seen, f"nothing went wrong: {terminal.seen[-80:]!r}")


def test_a_text_to_its_end(home):
    terminal = Terminal(home, "generate", "m.safetensors", "--prompt", "ab", "--tokens", "6")
    terminal.wait_for("^ababab\r\n$")
    expect(terminal.leave() == 0 and terminal.seen == "", f"the text and no more: {terminal.seen!r}")


def main():
    with tempfile.TemporaryDirectory() as home:
        pathlib.Path(home, "next.rasp").write_text(PROGRAM)
        subprocess.run([BINARY, "compile", "next.rasp", "--sop", "next", "--vocab", "ab", "--max-len", str(LENGTH),
                        "--causal", "-o", "m.safetensors"], cwd=home, check=True, capture_output=True)
        test_the_text_comes_as_it_is_made(home)
        test_a_text_to_its_end(home)
    print("ok")


if __name__ == "__main__":
    main()
