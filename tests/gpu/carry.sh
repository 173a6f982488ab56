#!/bin/bash
# carry.sh FOLDER: copies what the rooms model and runtime and their tests include and link from this
# system into FOLDER, for a machine that lacks it. Build there with -DRASP_CARRIED=FOLDER.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
folder="${1:?the folder to fill}"
mkdir -p "$folder/include" "$folder/lib"
folder="$(cd "$folder" && pwd)"

cd "$root"
sources=(src/{base,value,model,runtime}/*.cc src/runtime/{cpu,gpu,reference}/*.cc tests/gpu/*.cc)
for source in "${sources[@]}"; do
  [[ $source == tests/gpu/corpus_test.cc ]] && continue
  "${CXX:-g++}" -std=c++20 -M -Isrc -Itests/runtime -I/usr/include/eigen3 "$source"
done | tr -s ' \\\n' '\n' | grep -E '^/usr/include/(eigen3|boost|nlohmann|hwy|tl|gtest|gmock)/' | sort -u \
  | while read -r header; do
      to="$folder/include/${header#/usr/include/}"
      mkdir -p "$(dirname "$to")"
      cp "$header" "$to"
    done
for library in libhwy.so.1 libgtest.a libgtest_main.a libgmock.a; do
  cp -L "$("${CXX:-g++}" -print-file-name="$library")" "$folder/lib/"
done
du -sh "$folder"
