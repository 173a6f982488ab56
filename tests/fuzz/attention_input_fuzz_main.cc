// Runs the fuzz target without libFuzzer: `attention_input_fuzz [SECONDS [SEED]]` mutates files and
// specs for so long (default 3 seconds, seed 1).
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::string array_file() {
  const std::string header = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 1, 2), }\n";
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size());
  file += '\0';
  return file + header + std::string(32, '\x3f');
}

const std::string kGood[] = {
    array_file(),
    R"({"mask": "causal", "window": 4, "alibi": true, "scale": 0.5, "lengths": [3]})",
    R"({"score": "additive", "additive": {"wq": [[1, 2, 3, 4]], "wk": [[1, 2, 3, 4]], "v": [7]}})",
    R"({"score": "gaussian", "sigma": 2, "rope": {"base": 100, "interleaved": false}, "left": 2})",
    R"({"normaliser": "linear", "feature": "exp", "causal": true, "positions": "sinusoidal"})",
    R"({"normaliser": "hard", "alibi": [0.5, 2], "right": 1, "positions": "one-hot"})",
};
constexpr const char* kPieces[] = {
    "0",    "-1",   "1e400", "\"",    "[[",  "]",        "{}",   ",",       "null",       "true",
    "1e-9", "(2,)", "True",  "'<f4'", "|b1", "'shape':", "1e30", "\\u0000", "9999999999", "\"v\":"};

std::string mutated(std::string bytes, std::mt19937_64& random) {
  const auto any = [&](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
  };
  for (std::size_t edits = 1 + any(4); edits > 0 && !bytes.empty(); --edits) {
    const std::size_t at = any(bytes.size());
    switch (any(4)) {
      case 0:
        bytes[at] = static_cast<char>(any(256));
        break;
      case 1:
        bytes.insert(at, kPieces[any(std::size(kPieces))]);
        break;
      case 2:
        bytes.erase(at, any(12));
        break;
      default: {
        const std::size_t digit = bytes.find_first_of("0123456789", at);
        if (digit != std::string::npos) bytes[digit] = static_cast<char>('0' + any(10));
      }
    }
  }
  return bytes;
}

}  // namespace

int main(int count, char** values) {
  const double seconds = count > 1 ? std::atof(values[1]) : 3;
  std::mt19937_64 random(count > 2 ? std::strtoull(values[2], nullptr, 10) : 1);
  const auto start = std::chrono::steady_clock::now();
  std::size_t runs = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
         seconds) {
    const std::string bytes = mutated(kGood[runs++ % std::size(kGood)], random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs\n", runs);
  return 0;
}
