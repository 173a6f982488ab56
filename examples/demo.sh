#!/bin/bash
# The main job, on the programs beside this file: run them, compile one, and compare the interpreter
# with the weights. Usage: demo.sh PATH-TO-rasp
set -euo pipefail
rasp=$(realpath "$1")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { printf '\n== %s\n' "$*"; }
show() { printf '$ rasp %s\n' "$*"; "$rasp" "$@"; }

step "Every example, with its expectations, in the interpreter"
for file in *.rasp; do
  echo "$file"
  "$rasp" run "$file"
done

step "A session"
printf 'tokens + "!";\nselect(indices, indices, <);\nsort(tokens, tokens)("banana");\n' | tee /dev/stderr | "$rasp"

step "From source to weights: reverse, shift and histogram over 4 tokens up to length 6"
for pair in reverse:reverse shift:shift1 histogram:hist; do
  file=${pair%:*} name=${pair#*:}
  show compile "$file.rasp" --sop "$name" --vocab abcd --max-len 6 -o "$work/$file.safetensors"
  show exec "$work/$file.safetensors" --input abca
  show run "$file.rasp" --show "$name" --input abca
done

step "A text continued by induction: two layers of attention and nothing else, and what their heads do"
show compile induction_text.rasp --sop next --causal --vocab 'abcdefghijklmnopqrstuvwxyz .,' \
  --max-len 200 -o "$work/next.safetensors"
show generate "$work/next.safetensors" --prompt 'fish, f' --tokens 40
show heads "$work/next.safetensors"
