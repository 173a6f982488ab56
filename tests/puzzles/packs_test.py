"""The puzzle packs by the command: as many cases as there are inputs; the vectors of
tests/conformance/tasks.jsonl hold for solutions and for the library's functions. (What solutions of
the packs are worth is tests/verify/puzzle_packs_test.cc.)

packs_test.py RASP EXAMPLES"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PACKS = HERE.parent.parent / "stdlib" / "puzzles"
RASP, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])

# By task: the pack whose solution has its name, or the library's modules and call.
SOLUTIONS = {
    "transformer": "head index shift ralign split minimum first slide add",
    "paper": "reverse hist hist2 sort most_freq dyck1 dyck2 dyck3",
    "circuits": "induction",
    "course": "cumsum frac_prevs prefix_parity palindrome rank mode",
}
LIBRARY = {
    "head": ("", "load_from_location(t, 0)"),
    "index": ("", "load_from_location(t, {0})"),
    "shift": ("", "shift(t, {0}, {1})"),
    "ralign": ("layout", 'right_align(t, "_", {0})'),
    "split": ("layout", "split(t, {0}, {1})"),
    "minimum": ("order", "minimum(t)"),
    "first": ("search", "first(t, {0})"),
    "slide": ("layout", "slide(t, {0})"),
    "add": ("digits", "add(t)"),
    "cumsum": ("sums", "cumsum(t)"),
    "reverse": ("layout", "reverse(t)"),
    "sort": ("", "sort(t, t)"),
    "dyck1": ("dyck", "dyck1(t)"),
    "dyck2": ("dyck", "dyck2(t)"),
    "dyck3": ("dyck", "dyck3(t)"),
    "shuffle_dyck2": ("dyck", "shuffle_dyck2(t)"),
    "induction": ("search", "induction(t)"),
    "mode": ("search", "mode(t)"),
    "rank": ("order", "rank(t)"),
    "palindrome": ("layout", "is_palindrome(t)"),
}

failures = []


def check(holds, message):
    if not holds:
        failures.append(message)


def rasp(*arguments):
    done = subprocess.run([RASP, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def puzzles(pack):
    """Of every puzzle of a pack, the cases that a complete check has: counted in its text."""
    result = {}
    text = (PACKS / f"{pack}.rasp").read_text(encoding="utf-8")
    for name, body in re.findall(r"^puzzle (\w+)\(.*?\) \{(.*?)^\}", text, re.S | re.M):
        tokens = len(json.loads(re.search(r"vocab (.*);", body).group(1)))
        low, high = map(int, re.search(r"length (\d+) to (\d+);", body).groups())
        inputs = sum(tokens**n for n in range(low, high + 1))
        examples, specs = body.count("\n  expect "), body.count("\n  spec ")
        check(low == 1 and inputs <= 20_000, f"{pack}: {name} has {inputs} inputs from {low}")
        result[name] = examples + specs * inputs
    return result


def check_solutions(pack, cases):
    code, reports, errors = rasp("verify", EXAMPLES / "puzzles" / f"{pack}.rasp", "--json")
    check(code == 0, f"{pack}: exit status {code} {errors}")
    verdicts = {report["puzzle"]: report for report in reports}
    check(list(verdicts) == list(cases), f"{pack}: verdicts on {list(verdicts)}")
    for name, report in verdicts.items():
        good = report["verdict"] == "passed" and report["exact"] and report["exhaustive"]
        check(good and report["cases"] == cases.get(name), f"{pack}: {report}, {cases.get(name)}")


def answers(program, inputs, folder):
    path = folder / "vectors.rasp"
    path.write_text(program, encoding="utf-8")
    given = [part for one in inputs for part in ("--input", json.dumps(one))]
    _, lines, errors = rasp("run", path, "--show", "answer", "--json", *given)
    return [line.get("output") for line in lines] or errors


def check_vectors(folder):
    vectors = collections.defaultdict(list)
    text = (HERE.parent / "conformance" / "tasks.jsonl").read_text(encoding="utf-8")
    for line in text.splitlines():
        vector = json.loads(line)
        vectors[vector["task"], json.dumps(vector["args"])].append(vector)
    tried = collections.Counter()
    for (task, arguments), cases in vectors.items():
        given = [json.dumps(value) for value in json.loads(arguments)]
        programs = []
        for pack, names in SOLUTIONS.items():
            if task in names.split():
                solved = (EXAMPLES / "puzzles" / f"{pack}.rasp").read_text(encoding="utf-8")
                programs.append(f"{solved}\nanswer = {task}({', '.join(given)});")
        if task in LIBRARY:
            module, call = LIBRARY[task]
            load = f'load "{module}"; ' if module else ""
            programs.append(f"{load}t = tokens_asis; answer = {call.format(*given)};")
        check(programs, f"nothing solves {task}")
        tried[task] += len(cases) if programs else 0
        for program in programs:
            found = answers(program, [case["input"] for case in cases], folder)
            wanted = [case["output"] for case in cases]
            if task == "shuffle_dyck2":  # one answer for all positions; some vectors repeat it too often
                wanted = [[case["output"][0]] * len(case["input"]) for case in cases]
            same = len(found) == len(wanted) and all(map(equal, wanted, found))
            check(same, f"{task}{arguments}: wanted {wanted}, found {found}\n{program[-200:]}")
    check(len(tried) == 25 and tried.total() == 324, f"vectors tried: {tried}")


def equal(wanted, found):
    def one(a, b):
        if isinstance(a, float):  # the mean of one int is that int
            return type(b) in (int, float) and abs(a - b) <= 1e-9
        return type(a) is type(b) and a == b

    return isinstance(found, list) and len(wanted) == len(found) and all(map(one, wanted, found))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        packs = sorted(path.stem for path in PACKS.glob("*.rasp"))
        check(packs == ["circuits", "course", "paper", "transformer"], f"packs: {packs}")
        names = []
        for pack in packs:
            cases = puzzles(pack)
            names += cases
            check_solutions(pack, cases)
        check(len(names) == len(set(names)) == 52, f"{len(names)} puzzles: {names}")
        check_vectors(folder)
    for failure in failures:
        print(failure)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
