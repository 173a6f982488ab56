#!/usr/bin/env python3
"""Installs a build and lets another program use it: install_test.py CMAKE BUILD-FOLDER COMPILER."""
import pathlib
import subprocess
import sys
import tempfile

CMAKE, BUILD, COMPILER = sys.argv[1:4]
SOURCE = pathlib.Path(__file__).resolve().parent


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    prefix, work = folder + "/prefix", folder + "/work"
    run(CMAKE, "--install", BUILD, "--prefix", prefix)
    version = run(prefix + "/bin/rasp", "--version")
    if not version.startswith("rasp "):
        sys.exit(f"the installed command says {version!r}")
    run(CMAKE, "-S", str(SOURCE), "-B", work, "-DCMAKE_PREFIX_PATH=" + prefix,
        "-DCMAKE_CXX_COMPILER=" + COMPILER, "-DCMAKE_BUILD_TYPE=Release")
    run(CMAKE, "--build", work)
    answer = run(work + "/consumer")
    if answer != "the same\n":
        sys.exit(f"the consumer says {answer!r}")
    print("installed, found, linked and run")
