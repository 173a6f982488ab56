#!/usr/bin/env python3
"""Sizes of compiled models beside Tracr's for the same programs: sizes.py PATH-TO-rasp. Prints a Markdown table.

Tracr's figures are of its own construction for 8 tokens (shuffle-Dyck-2: 4) at maximal length 32; parameters are those
of attention and MLP, without embeddings, on both sides. Exit status 1 when a model is deeper or larger than Tracr's."""
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
LETTERS = "abcdefgh"
#        title, file, s-op, vocabulary, Tracr's layers, residual width, parameters
PROGRAMS = [
    ("reverse", "reverse", "reverse", LETTERS, 4, 212, 539_000),
    ("histogram", "histogram", "hist", LETTERS, 1, 44, 6_800),
    ("double histogram", "double_histogram", "hist2", LETTERS, 2, 112, 57_000),
    ("sort", "sort", "sorted", LETTERS, 3, 340, 424_000),
    ("frac_prevs", "frac_prevs", "frac_prevs", LETTERS, 2, 44, 3_200),
    ("shift by one", "shift", "shift1", LETTERS, 1, 50, 4_200),
    ("shuffle-Dyck-2", "shuffle_dyck", "shuffle_dyck2", "(){}", 8, 135, 2_245_000),
]


def parameters(path):
    """Entries of the tensors of the layers, from the header of a safetensors file."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    return sum(math.prod(tensor["shape"]) for name, tensor in header.items() if name.startswith("layers."))


def main():
    rasp = sys.argv[1]
    worse = 0
    logs = []
    print("| program | layers | Tracr | d_model | Tracr | parameters | Tracr | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for title, file, sop, vocabulary, layers, width, weights in PROGRAMS:
            model = pathlib.Path(folder) / "model.safetensors"
            command = [rasp, "compile", str(EXAMPLES / f"{file}.rasp"), "--sop", sop, "--vocab", vocabulary,
                       "--max-len", "32", "--json", "-o", str(model)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode != 0:
                sys.exit(f"{title}: {run.stdout}{run.stderr}")
            sizes = json.loads(run.stdout.splitlines()[-1])
            ours = parameters(model)
            depth = len(sizes["layers"]) if isinstance(sizes["layers"], list) else sizes["layers"]
            ratio = ours / weights
            logs.append(math.log(ratio))
            worse += depth > layers or ours > weights or not sizes["certified"]
            print(f"| {title} | {depth} | {layers} | {sizes['d_model']} | {width} | {ours:,} | {weights:,} | {ratio:.3f} |")
    print(f"\nGeometric mean of the ratios: {math.exp(sum(logs) / len(logs)):.3f}")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
