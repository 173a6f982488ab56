#!/usr/bin/env python3
"""Streams and resources of the command: streams_test.py PATH-TO-rasp EXAMPLES."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
EXAMPLES = pathlib.Path(sys.argv[2])
SLOW = any(name in os.environ for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"))


def rasp(*arguments, stdin=b"", timeout=120, **options):
    return subprocess.run([BINARY, *map(str, arguments)], input=stdin, capture_output=True, timeout=timeout,
                          **options)


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def test_reader_that_goes_away():
    reader, writer = os.pipe()
    process = subprocess.Popen([BINARY], stdin=subprocess.PIPE, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    os.close(reader)
    _, error = process.communicate(b"indices;\n" * 100_000, timeout=120)
    expect(process.returncode == 1 and error == b"", f"a closed pipe: {process.returncode}, {error!r}")


def test_full_disk():
    with open("/dev/full", "wb") as full:
        run = subprocess.run([BINARY, "eval", "1"], stdout=full, stderr=subprocess.PIPE, timeout=60)
    expect(run.returncode == 1 and b"No space left" in run.stderr, f"a full disk: {run}")
    with tempfile.TemporaryDirectory() as folder:
        run = rasp("compile", EXAMPLES / "histogram.rasp", "--sop", "hist", "--vocab", "ab", "--max-len", 3,
                   "-o", pathlib.Path(folder, "missing", "m.safetensors"))
        expect(run.returncode == 1 and b"m.safetensors" in run.stderr, f"no such folder: {run}")
        expect(os.listdir(folder) == [], "nothing is left behind")


def test_interrupt():
    process = subprocess.Popen([BINARY, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdin.write(b"1;\n")
    process.stdin.flush()
    expect(b"value" in process.stdout.readline(), "the session is up")
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    expect(process.returncode == -signal.SIGINT, f"Ctrl-C without a terminal: {process.returncode}")
    process.communicate()


def test_answers_come_at_once():
    # A program at the other end of two pipes gets each answer before it sends the next line.
    process = subprocess.Popen([BINARY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for number in range(20):
        process.stdin.write(b"%d;\n" % number)
        process.stdin.flush()
        expect(process.stdout.readline() == b"    value: out =  %d\n" % number, "an answer a line")
    process.stdin.close()
    expect(process.wait(timeout=60) == 0, "the session ends with its input")
    process.stdout.close()


def test_hostile_sessions():
    cases = {
        "NUL bytes": b"1;\0\0;\n2;\n",
        "invalid UTF-8": b'"\xff\xfe";\n2;\n',
        "10,000 brackets": b"(" * 10_000 + b";\n2;\n",
        "an endless statement": b"def f(x) {\n" + b"y = x;\n" * 10_000,
        "a 10 MB line": b"x = " + b"1 + " * 2_500_000 + b"1;\n2;\n",
        "a random block": bytes((i * 7919 + i // 251) % 256 for i in range(100_000)),
        "a huge range": b"x = range(10^12);\n2;\n",
        "endless recursion": b"def f(x) { return f(x + 1); }\nf(1);\n2;\n",
    }
    for what, text in cases.items():
        run = rasp(stdin=text, timeout=300)
        expect(run.returncode == 1 and b"error" in run.stderr, f"{what}: status {run.returncode}, {run.stderr[-500:]}")
        expect(len(run.stderr) < 10_000_000, f"{what}: {len(run.stderr)} bytes of errors")
        if text.endswith(b"\n2;\n"):
            expect(run.stdout.endswith(b"value: out =  2\n"), f"{what}: the session goes on: {run.stdout[-200:]}")


def test_long_session():
    lines = 10_000
    start = time.monotonic()
    run = rasp(stdin=b"x = indices;\n" + b"x = x + x;\n" * lines, timeout=300)
    took = time.monotonic() - start
    expect(run.returncode == 0 and run.stdout.count(b"Example") == lines + 1, "every statement shows its value")
    last = run.stdout.rsplit(b"= [", 1)[1].split(b"]")[0].split(b", ")
    expect([int(number.decode()[-20:]) for number in last] ==
           [i * 2**lines % 10**20 for i in range(5)], "the last digits are right")
    expect(took < (300 if SLOW else 60), f"10,000 doublings took {took:.1f} s")


def test_start():
    """Time and memory of the smallest run; the best of several, for machines that do other work."""
    best = 1e9
    for _ in range(20):
        start = time.monotonic()
        expect(rasp("eval", "1+1;").stdout == b"    value: out =  2\n", "1 + 1")
        best = min(best, time.monotonic() - start)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"start: {best * 1000:.1f} ms")
    if not SLOW:
        expect(best < 0.025, f"rasp eval '1+1;' took {best * 1000:.1f} ms")
    return memory


def test_json_numbers():
    cases = {"2^200": 2**200, "1.0": 1.0, "1": 1, "True": True, "1/3": 1 / 3, "10^300*1.0": 1e300, "-2": -2,
             '"a"': "a"}
    for expression, want in cases.items():
        got = json.loads(rasp("eval", expression, "--json").stdout)["output"]
        expect(got == want and type(got) is type(want), f"{expression}: {got!r}")


def test_models():
    with tempfile.TemporaryDirectory() as folder:
        for name, sop in (("histogram", "hist"), ("reverse", "reverse"), ("shift", "shift1")):
            model = pathlib.Path(folder, name + ".safetensors")
            command = ["compile", EXAMPLES / f"{name}.rasp", "--sop", sop, "--vocab", "abcd", "--max-len", 6,
                       "-o", model]
            report = json.loads(rasp(*command, "--json").stdout)
            layers = report["layers"]
            expect(len(report["heads"]) == len(report["d_mlp"]) == layers and report["certified"] is True and
                   report["margin"] > 0 and report["seconds"] >= 0 and report["d_model"] > 0 and
                   report["parameters"] > 0 and report["d_head"] > 0, f"the report on {name}: {report}")
            table = rasp(*command).stdout.decode()
            expect("certificate holds" in table and "written to" in table, f"the table on {name}: {table}")
            inputs = ["a", "abca", "ddcbaa"]
            ran = rasp("exec", model, *(f"--input={text}" for text in inputs), "--json", "--trace")
            oracle = rasp("run", EXAMPLES / f"{name}.rasp", "--show", sop,
                          *(f"--input={text}" for text in inputs), "--json")
            for text, got, want in zip(inputs, ran.stdout.splitlines(), oracle.stdout.splitlines(), strict=True):
                got, want = json.loads(got), json.loads(want)
                trace = got.pop("trace")["layers"]
                expect(got == want, f"{name} on {text}: {got}, not {want}")
                expect([len(layer["heads"]) for layer in trace[1:]] == report["heads"], "a trace has every head")
                for head in (head for layer in trace for head in layer["heads"]):
                    expect(all(abs(sum(row) - 1) < 1e-5 for row in head["attention"]), "attention sums to 1")
            text = rasp("exec", model, "--input", "ab", "--trace").stdout.decode()
            expect("BOS" in text and "layer 0" in text and "embedding" in text, f"the trace: {text}")
            checked = rasp("certify", model)
            expect(checked.returncode == 0 and b"the certificate holds" in checked.stdout, f"certify: {checked}")
            expect(json.loads(rasp("certify", model, "--json").stdout)["certified"] is True, "certify --json")
            cut = pathlib.Path(folder, "cut.safetensors")
            cut.write_bytes(model.read_bytes()[:-1])
            broken = rasp("exec", cut, "--input", "a")
            expect(broken.returncode == 2 and b"cut.safetensors" in broken.stderr, f"a file cut short: {broken}")


def main():
    tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    expect(len(tests) == 9, f"every test is here: {len(tests)}")
    for test in tests:
        test()
        print(f"{test.__name__}: passed", flush=True)


if __name__ == "__main__":
    main()
