// Runs the fuzz target without libFuzzer: `model_fuzz [SECONDS [SEED]]` mutates small random models
// for so long (default 3 seconds, seed 1), or `model_fuzz FILE...` replays files.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "../model/random_model.h"
#include "model/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using rasp::testing::RandomModel;
using rasp::testing::RandomModelOptions;

void run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string random_file(RandomModel& random) {
  RandomModelOptions options;
  options.max_width = 4;
  options.max_length = 4;
  options.max_layers = 2;
  options.max_heads = 2;
  return rasp::model::serialise(random(options)).value();
}

// The header's length, so that edits of the header can keep the rest of the file in place.
void fix_length(std::string& bytes, std::ptrdiff_t grown) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  length += static_cast<std::uint64_t>(grown);
  std::memcpy(bytes.data(), &length, sizeof(length));
}

std::string mutated(std::string bytes, RandomModel& random) {
  static constexpr const char* kPieces[] = {
      "0",          "-1",  "1e400",   "\"",  "[[", "]", "{}", ",", "null", "18446744073709551615",
      "2147483647", "1.5", "\\u0000", "true"};
  const std::size_t edits = random.size(1, 4);
  for (std::size_t edit = 0; edit < edits; ++edit) {
    const std::size_t at = random.size(0, bytes.size() - 1);
    switch (random.size(0, 4)) {
      case 0:
        bytes[at] = static_cast<char>(random.size(0, 255));
        break;
      case 1:
        bytes.resize(at + 1);
        break;
      case 2: {  // a piece put in
        const std::string piece = kPieces[random.size(0, std::size(kPieces) - 1)];
        if (at < 8) break;
        bytes.insert(at, piece);
        fix_length(bytes, static_cast<std::ptrdiff_t>(piece.size()));
        break;
      }
      case 3: {  // digits replaced: sizes, offsets, counts
        const std::size_t digit = bytes.find_first_of("0123456789", at);
        if (digit != std::string::npos && digit >= 8)
          bytes[digit] = static_cast<char>('0' + random.size(0, 9));
        break;
      }
      default: {  // a range left out
        const std::size_t count = random.size(0, 20);
        if (at < 8 || at + count >= bytes.size()) break;
        bytes.erase(at, count);
        fix_length(bytes, -static_cast<std::ptrdiff_t>(count));
        break;
      }
    }
    if (bytes.size() < 9) break;
  }
  return bytes;
}

int replay(int count, char** paths) {
  for (int i = 0; i < count; ++i) {
    std::ifstream file(paths[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot read %s\n", paths[i]);
      return 1;
    }
    run({std::istreambuf_iterator<char>(file), {}});
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strspn(argv[1], "0123456789.") != std::strlen(argv[1]))
    return replay(argc - 1, argv + 1);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3.0;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  RandomModel random(seed);
  const auto start = std::chrono::steady_clock::now();
  std::size_t rounds = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
         seconds) {
    const std::string file = random_file(random);
    run(file);
    for (int i = 0; i < 50; ++i) run(mutated(file, random));
    rounds += 51;
  }
  std::printf("%zu files, seed %llu\n", rounds, static_cast<unsigned long long>(seed));
  return rounds == 0 ? 1 : 0;
}
