#!/usr/bin/env python3
"""`rasp attention` against softmax spelled out in Python: attention_files_test.py PATH-TO-rasp.

NumPy files are written and read by hand, so that the test needs Python alone."""
import ast
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
CODES = {"<f4": "f", "<f8": "d", "|b1": "?"}


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def save(path, descr, shape, values, version=1, fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    data = struct.pack(f"<{len(values)}{CODES[descr]}", *values)
    path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + length + header + data)


def load(path):
    data = path.read_bytes()
    expect(data[:8] == b"\x93NUMPY\x01\x00", "a result has version 1")
    length = struct.unpack("<H", data[8:10])[0]
    expect((10 + length) % 64 == 0, "the data is aligned as NumPy aligns it")
    header = ast.literal_eval(data[10:10 + length].decode())
    expect(header["fortran_order"] is False, "results are in C order")
    count = math.prod(header["shape"])
    values = struct.unpack(f"<{count}{CODES[header['descr']]}", data[10 + length:])
    return header["descr"], list(header["shape"]), list(values)


def slopes(heads):
    """ALiBi's, for powers of two and, as the paper's code has it, between them."""
    def of_power(n):
        return [2 ** (-8 * (i + 1) / n) for i in range(n)]
    power = 1 << (heads.bit_length() - 1)
    return of_power(power) + of_power(2 * power)[0::2][:heads - power]


def sine(position, column, dim):
    angle = position / 10000 ** (column // 2 * 2 / dim)
    return math.cos(angle) if column % 2 else math.sin(angle)


def plain(shape_q, shape_k, dim_v, q, k, v, sees, add):
    """Softmax attention, list by list; sees(b, h, i, j) masks and add(h, position, j) is added to scores."""
    batch, heads, queries, dim = shape_q
    kv_heads, keys = shape_k[1], shape_k[2]
    out, weights = [], []
    for b in range(batch):
        for h in range(heads):
            g = h // (heads // kv_heads)
            for i in range(queries):
                at_q = ((b * heads + h) * queries + i) * dim
                row, scores = q[at_q:at_q + dim], {}
                for j in range(keys):
                    if sees(b, h, i, j):
                        at_k = ((b * kv_heads + g) * keys + j) * dim
                        dot = sum(x * y for x, y in zip(row, k[at_k:at_k + dim]))
                        scores[j] = dot / math.sqrt(dim) + add(h, i + keys - queries, j)
                top = max(scores.values(), default=0)
                exps = {j: math.exp(s - top) for j, s in scores.items()}
                total = sum(exps.values())
                weights += [exps[j] / total if j in exps else 0.0 for j in range(keys)]
                for c in range(dim_v):
                    mixed = sum(e * v[((b * kv_heads + g) * keys + j) * dim_v + c] for j, e in exps.items())
                    out.append(mixed / total if exps else 0.0)
    return out, weights


def close(got, want, tolerance):
    return len(got) == len(want) and all(abs(x - y) <= tolerance for x, y in zip(got, want))  # NaN is not


def run(folder, *arguments, spec=None):
    if spec is not None:
        (folder / "spec.json").write_text(spec if isinstance(spec, str) else json.dumps(spec))
        arguments += ("--spec", "spec.json")
    return subprocess.run([BINARY, "attention", *arguments], cwd=folder, capture_output=True, text=True, timeout=120)


QKV = ("--q", "q.npy", "--k", "k.npy", "--v", "v.npy")


def test_specs(folder):
    generator = random.Random(7)
    for round_number in range(40):
        descr = generator.choice(["<f4", "<f8"])
        kv_heads = generator.randint(1, 3)
        heads = kv_heads * generator.randint(1, 3)
        batch, dim, dim_v = generator.randint(1, 2), generator.randint(1, 9), generator.randint(1, 5)
        keys = generator.randint(1, 20)
        queries = generator.randint(1, keys)
        shapes = {"q": [batch, heads, queries, dim], "k": [batch, kv_heads, keys, dim],
                  "v": [batch, kv_heads, keys, dim_v]}
        values = {}
        for name, shape in shapes.items():
            drawn = [generator.gauss(0, 1) for _ in range(math.prod(shape))]
            values[name] = list(struct.unpack(f"<{len(drawn)}{CODES[descr]}",
                                              struct.pack(f"<{len(drawn)}{CODES[descr]}", *drawn)))
            save(folder / f"{name}.npy", descr, shape, values[name], version=generator.randint(1, 3))

        spec, conditions, add = {}, [], (lambda h, p, j: 0)
        if generator.random() < 0.5:
            spec["mask"] = "causal"
            conditions.append(lambda b, h, i, j, n=keys - queries: j <= i + n)
        if generator.random() < 0.4:
            spec["window"] = generator.randint(1, 6)
            conditions.append(lambda b, h, i, j, n=keys - queries, w=spec["window"]: i + n - w < j <= i + n)
        elif generator.random() < 0.3:
            spec["left"], spec["right"] = generator.randint(0, 4), generator.randint(0, 4)
            conditions.append(lambda b, h, i, j, n=keys - queries, l=spec["left"], r=spec["right"]:
                              i + n - l <= j <= i + n + r)
        if "mask" not in spec and generator.random() < 0.5:
            mask = [generator.random() < 0.7 for _ in range(heads * queries * keys)]
            save(folder / "mask.npy", "|b1", [heads, queries, keys], mask)
            spec["mask"] = "mask.npy"
            conditions.append(lambda b, h, i, j, m=mask, n=queries, k=keys: m[(h * n + i) * k + j])
        if generator.random() < 0.3:
            spec["lengths"] = [generator.randint(0, keys) for _ in range(batch)]
            conditions.append(lambda b, h, i, j, n=spec["lengths"]: j < n[b])
        if generator.random() < 0.4:
            spec["alibi"] = True
            add = (lambda h, p, j, s=slopes(heads): -s[h] * abs(p - j))
        q, k = list(values["q"]), list(values["k"])
        if generator.random() < 0.3:
            spec["positions"] = "sinusoidal"
            q = [x + sine(n // dim % queries + keys - queries, n % dim, dim) for n, x in enumerate(q)]
            k = [x + sine(n // dim % keys, n % dim, dim) for n, x in enumerate(k)]
        want, want_weights = plain(shapes["q"], shapes["k"], dim_v, q, k, values["v"],
                                   lambda *at: all(c(*at) for c in conditions), add)
        done = run(folder, *QKV, "-o", "out.npy", "--weights", "w.npy", "--json", spec=spec)
        expect(done.returncode == 0, f"{spec}: {done.stdout}{done.stderr}")
        report = json.loads(done.stdout)
        expect(report["shape"] == shapes["q"][:3] + [dim_v], f"the shape is reported: {report}")
        expect(report["dtype"] == ("float32" if descr == "<f4" else "float64"), f"the type is reported: {report}")
        tolerance = 1e-5 if descr == "<f4" else 1e-12
        got_descr, got_shape, got = load(folder / "out.npy")
        expect(got_descr == descr and got_shape == report["shape"], f"the file is as reported: {got_shape}")
        expect(close(got, want, tolerance), f"round {round_number}: {spec} of {shapes}")
        _, got_shape, got = load(folder / "w.npy")
        expect(got_shape == shapes["q"][:3] + [keys] and close(got, want_weights, tolerance),
               f"the matrix of round {round_number}: {spec}")
        expect(all(x == 0 for x, y in zip(got, want_weights) if y == 0), "masked weights are 0")


def rotated(row, position, base, interleaved):
    """RoPE as its paper writes it."""
    dim, out = len(row), list(row)
    for i in range(dim // 2):
        a, b = (2 * i, 2 * i + 1) if interleaved else (i, i + dim // 2)
        angle = position * base ** (-2 * i / dim)
        out[a] = row[a] * math.cos(angle) - row[b] * math.sin(angle)
        out[b] = row[a] * math.sin(angle) + row[b] * math.cos(angle)
    return out


def test_scores_and_normalisers(folder):
    """One head, every choice that changes what a key weighs; weight(query, key, i, j) is not yet divided."""
    length, dim = 7, 4
    generator = random.Random(11)
    rows = {name: [[generator.gauss(0, 1) for _ in range(dim)] for _ in range(length)] for name in "qkv"}
    for name in "qkv":
        save(folder / f"{name}.npy", "<f8", [1, 1, length, dim], sum(rows[name], []))
    hidden = 3
    wq, wk = ([[generator.gauss(0, 1) for _ in range(dim)] for _ in range(hidden)] for _ in range(2))
    v = [generator.gauss(0, 1) for _ in range(hidden)]
    bias = [[generator.choice([0.5, -1.0, -math.inf]) if i != j else 0.0 for j in range(length)] for i in range(length)]
    save(folder / "bias.npy", "<f8", [length, length], sum(bias, []))
    table = [[generator.gauss(0, 1) for _ in range(dim)] for _ in range(length + 2)]
    save(folder / "table.npy", "<f8", [length + 2, dim], sum(table, []))

    def dot(x, y):
        return sum(a * b for a, b in zip(x, y))

    def added(row, position):
        return [a + b for a, b in zip(row, table[position])]

    def elu(row):
        return [x + 1 if x > 0 else math.exp(x) for x in row]

    def softmax(score):
        return lambda q, k, i, j: math.exp(score(q, k, i, j))

    def turning(base, interleaved):
        return softmax(lambda q, k, i, j: dot(rotated(q, i, base, interleaved), rotated(k, j, base, interleaved)) / 2)

    cases = [
        ({}, softmax(lambda q, k, i, j: dot(q, k) / 2)),
        ({"scale": 0.3}, softmax(lambda q, k, i, j: 0.3 * dot(q, k))),
        ({"score": "gaussian", "sigma": 0.8},
         softmax(lambda q, k, i, j: -sum((a - b) ** 2 for a, b in zip(q, k)) / (2 * 0.8 ** 2))),
        ({"score": "additive", "additive": {"wq": wq, "wk": wk, "v": v}},
         softmax(lambda q, k, i, j: sum(v[h] * math.tanh(dot(wq[h], q) + dot(wk[h], k)) for h in range(hidden)))),
        ({"rope": True}, turning(10000, True)),
        ({"rope": {"base": 50, "interleaved": False}}, turning(50, False)),
        ({"bias": "bias.npy"},
         softmax(lambda q, k, i, j: dot(q, k) / 2 + bias[i][j])),
        ({"alibi": [0.7]}, softmax(lambda q, k, i, j: dot(q, k) / 2 - 0.7 * abs(i - j))),
        ({"positions": "table.npy"}, softmax(lambda q, k, i, j: dot(added(q, i), added(k, j)) / 2)),
        ({"normaliser": "linear"}, lambda q, k, i, j: dot(elu(q), elu(k))),
        ({"normaliser": "linear", "feature": "relu", "mask": "causal"},
         lambda q, k, i, j: sum(max(a, 0) * max(b, 0) for a, b in zip(q, k)) if j <= i else 0),
        ({"normaliser": "hard"},
         lambda q, k, i, j: float(all(dot(q, k) >= dot(q, other) for other in rows["k"]))),
    ]
    for spec, weight in cases:
        want = []
        for i, q in enumerate(rows["q"]):
            weights = [weight(q, k, i, j) for j, k in enumerate(rows["k"])]
            total = sum(weights)
            want += [sum(w * value[c] for w, value in zip(weights, rows["v"])) / total if total else 0.0
                     for c in range(dim)]
        done = run(folder, *QKV, "-o", "out.npy", spec=spec)
        expect(done.returncode == 0, f"{spec}: {done.stderr}")
        expect(close(load(folder / "out.npy")[2], want, 1e-12), f"{spec}")


def test_fortran_order(folder):
    shape, values = [1, 2, 3, 2], [float(n) for n in range(12)]
    # The same array, first index fastest.
    columns = [values[(h * 3 + i) * 2 + c] for c in range(2) for i in range(3) for h in range(2)]
    save(folder / "q.npy", "<f8", shape, values)
    save(folder / "k.npy", "<f8", shape, values)
    save(folder / "v.npy", "<f8", shape, values)
    save(folder / "f.npy", "<f8", shape, columns, fortran=True)
    expect(run(folder, *QKV, "-o", "c.npy").returncode == 0, "C order")
    done = run(folder, "--q", "f.npy", "--k", "f.npy", "--v", "f.npy", "-o", "out.npy")
    expect(done.returncode == 0 and (folder / "c.npy").read_bytes() == (folder / "out.npy").read_bytes(),
           f"Fortran order gives the same bytes: {done.stderr}")


def test_refusals(folder):
    good = [1.0] * 12
    for name in "qkv":
        save(folder / f"{name}.npy", "<f8", [1, 2, 3, 2], good)
    save(folder / "single.npy", "<f4", [1, 2, 3, 2], good)
    save(folder / "flat.npy", "<f8", [6, 2], good)
    save(folder / "three.npy", "<f8", [1, 3, 2, 2], good)
    save(folder / "mask.npy", "|b1", [3, 2], [True] * 6)
    save(folder / "table.npy", "<f8", [6, 2], good)
    save(folder / "short.npy", "<f8", [2, 2], good[:4])
    (folder / "cut.npy").write_bytes((folder / "q.npy").read_bytes()[:-1])
    (folder / "out.npy").write_bytes(b"as it was")
    with_k = ("--q", "q.npy", "--v", "v.npy", "--k")
    cases = [
        (QKV, {"windw": 4}, "did you mean 'window'?"),
        (QKV, {"window": 0}, "from 1 up"),
        (QKV, {"window": 2.5}, "2.5"),
        (QKV, {"window": 2, "left": 1}, "\"window\""),
        (QKV, {"mask": "causal", "causal": False}, "\"causal\" is false"),
        (QKV, {"score": "cosine"}, "\"gaussian\""),
        (QKV, {"sigma": 2}, "goes with score \"gaussian\" only"),
        (QKV, {"score": "gaussian", "scale": 2}, "goes with score \"dot\" only"),
        (QKV, {"score": "gaussian", "sigma": 0}, "sigma"),
        (QKV, {"score": "additive"}, "needs \"additive\""),
        (QKV, {"score": "additive", "additive": {"wq": [[1]], "wk": [[1, 2]], "v": [1]}}, "additive"),
        (QKV, {"feature": "relu"}, "normaliser \"linear\""),
        (QKV, {"normaliser": "linear", "window": 2}, "linear attention"),
        (QKV, {"alibi": [1]}, "1 ALiBi slopes for 2 heads"),
        (QKV, {"rope": {"bass": 1}}, "did you mean 'base'?"),
        (QKV, {"rope": {"base": -1}}, "base"),
        (QKV, {"lengths": [3, 3]}, "2 lengths for a batch of 1"),
        (QKV, {"lengths": [4]}, "a length of 4 for 3 keys"),
        (QKV, {"mask": "mask.npy"}, "[1, 1, 3, 2]"),
        (QKV, {"mask": "q.npy"}, "float64"),
        (QKV, {"mask": "none.npy"}, "none.npy"),
        (QKV, {"bias": "mask.npy"}, "bool"),
        (QKV, {"positions": "one-hot"}, "3 positions"),
        (QKV, {"positions": "short.npy"}, "[2, 2]"),
        (QKV, {"positions": "q.npy"}, "[positions, d]"),
        (QKV, "[1]", "one JSON object"),
        (QKV, "{\"window\": 1, \"window\": 2}", "twice"),
        (QKV, "{\"window\": ", "not JSON"),
        (QKV, "[" * 100_000, "attention spec"),
        ((*with_k, "single.npy"), {}, "float32"),
        ((*with_k, "flat.npy"), {}, "four dimensions"),
        ((*with_k, "three.npy"), {}, "[1, 3, 2, 2]"),
        ((*with_k, "cut.npy"), {}, "cut.npy"),
        ((*with_k, "none.npy"), {}, "none.npy"),
        ((*with_k, "."), {}, "directory"),
        ((*with_k, "spec.json"), {}, "does not begin"),
        (QKV[:4], {}, "'--v' is missing"),
    ]
    for arguments, spec, why in cases:
        done = run(folder, *arguments, "-o", "out.npy", spec=spec)
        expect(done.returncode == 2 and why in done.stderr, f"{arguments} {spec}: expected {why}, got {done.stderr}")
        expect((folder / "out.npy").read_bytes() == b"as it was", "an error leaves the result's file alone")
    done = run(folder, *QKV, "-o", "out.npy", spec={"positions": "table.npy"})
    expect(done.returncode == 0, f"a table may be longer: {done.stderr}")
    expect(run(folder, *QKV).returncode == 2, "no result is asked for")
    before = sorted(os.listdir(folder))
    run(folder, *QKV, "-o", "no/such/folder.npy")
    expect(sorted(os.listdir(folder)) == before, "nothing is left behind")


def main():
    for test in (test_specs, test_scores_and_normalisers, test_fortran_order, test_refusals):
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder))
    print("ok")


if __name__ == "__main__":
    main()
