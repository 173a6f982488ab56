#!/usr/bin/env python3
"""Float32 attention beside PyTorch's fused kernel, in one run and on the same cores.

usage: compare_torch.py ATTENTION_BENCH [--threads N] [--rounds R]   (needs torch)

Both take turns, round by round, so that a busy machine slows both. Prints medians in GFLOP/s as
4 n^2 d a head, half for causal. Run it under `taskset` to name the cores.
"""

import argparse
import json
import statistics
import subprocess
import time

import torch

HEADS = 8


def ours(binary, kind, n, d, threads):
    pattern = f"^{kind}/heads:{HEADS}/n:{n}/d:{d}/threads:{threads}/real_time$"
    command = [binary, f"--benchmark_filter={pattern}", "--benchmark_format=json",
               "--benchmark_min_time=0.2"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    result = json.loads(text)["benchmarks"][0]
    return result["GFLOP/s"], result.get("of_peak", float("nan"))


def torchs(kind, n, d):
    q, k, v = (torch.randn(1, HEADS, n, d) for _ in range(3))
    causal = kind == "causal"
    attend = torch.nn.functional.scaled_dot_product_attention
    with torch.no_grad():
        attend(q, k, v, is_causal=causal)
        best, spent = float("inf"), 0.0
        while spent < 0.2:
            start = time.perf_counter()
            attend(q, k, v, is_causal=causal)
            took = time.perf_counter() - start
            best, spent = min(best, took), spent + took
    scores = n * (n + 1) / 2 if causal else n * n
    return 4e-9 * HEADS * d * scores / best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, "
          f"{arguments.threads} thread(s); GFLOP/s")
    print(f"{'':7} {'n':>5} {'d':>4} {'torch':>7} {'raspkit':>8} {'ratio':>6} {'of peak':>8}")
    slower = 0
    for kind in ("full", "causal"):
        for n in (512, 1024, 2048, 4096, 8192):
            for d in (64, 128):
                rounds = [(torchs(kind, n, d), *ours(arguments.binary, kind, n, d,
                                                     arguments.threads))
                          for _ in range(arguments.rounds)]
                theirs, own, share = (statistics.median(column) for column in zip(*rounds))
                slower += own <= theirs
                print(f"{kind:7} {n:5} {d:4} {theirs:7.1f} {own:8.1f} {own / theirs:6.2f} "
                      f"{share:8.0%}", flush=True)
    print(f"faster than torch on {20 - slower} of 20 shapes")


if __name__ == "__main__":
    main()
