#!/bin/bash
# Builds the rooms model and runtime, checks every backend that is here, then times them and prints one
# table; in under four minutes on a machine with a graphics card. run.sh [CARRIED], where CARRIED is a
# folder that carry.sh made, for machines that lack the libraries. Changes no setting of a card.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
build="${BUILD:-$root/build-gpu}"
options=(-DCMAKE_BUILD_TYPE=Release -DRASP_RUNTIME_ONLY=ON)
if (( $# > 0 )); then options+=("-DRASP_CARRIED=$(cd "$1" && pwd)"); fi
command -v ninja >/dev/null && options+=(-G Ninja)

SECONDS=0
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
{ cmake -S "$root" -B "$build" "${options[@]}" &&
  cmake --build "$build" --parallel "$(nproc)" --target test_gpu gpu_timing; } >"$log" 2>&1 \
  || { tail -n 50 "$log"; exit 1; }
echo "built in $SECONDS s"

SECONDS=0
failed=0
for filter in '*Arithmetic.*:*Devices.*:*Cache.*' '*BackendModels.*' '*BackendAttention.*' '*BackendDecoding.*'; do
  "$build/tests/test_gpu" --gtest_brief=1 --gtest_filter="$filter" | grep -vE 'SKIPPED|Skipped|^no |^Running' || failed=1
done
echo "checked in $SECONDS s"
(( failed == 0 )) || { echo "the checks failed, so nothing is timed"; exit 1; }

SECONDS=0
"$build/tests/gpu_timing" "$root/tests/gpu/histogram.safetensors"
echo "timed in $SECONDS s"
