// Runs the fuzz target without libFuzzer: `parser_fuzz [SECONDS [SEED]]` mutates random programs
// for so long (default 3 seconds, seed 1), or `parser_fuzz FILE...` replays files.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "../syntax/random_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using rasp::syntax::testing::Dice;
using rasp::syntax::testing::RandomText;

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::string mutated(std::string text, Dice& dice) {
  static const std::vector<std::string> pieces = {"(",
                                                  ")",
                                                  "[",
                                                  "]",
                                                  "{",
                                                  "}",
                                                  ";",
                                                  ",",
                                                  ":",
                                                  "=",
                                                  "==",
                                                  "\"",
                                                  "'",
                                                  "#",
                                                  "\n",
                                                  "-",
                                                  ".",
                                                  "!",
                                                  "\xC3",
                                                  "\xE2\x82\xAC",
                                                  "def ",
                                                  "for ",
                                                  " in ",
                                                  " if ",
                                                  " else ",
                                                  "not ",
                                                  "return ",
                                                  "select(",
                                                  "expect ",
                                                  "puzzle ",
                                                  "show example",
                                                  "exit\n",
                                                  "1",
                                                  "x",
                                                  "vocab ",
                                                  "length ",
                                                  " to ",
                                                  std::string(1, '\0'),
                                                  "- - - -"};
  for (std::size_t edits = 1 + dice.below(4); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = dice.below(text.size());
    const std::size_t count = 1 + dice.below(8);
    switch (dice.below(6)) {
      case 0:
        text[at] = static_cast<char>(dice.below(256));
        break;
      case 1:
        text.erase(at, count);
        break;
      case 2:  // a part again, somewhere else
        text.insert(dice.below(text.size()), text.substr(at, dice.below(60)));
        break;
      case 3:
        text.resize(at);
        break;
      default:
        text.insert(at, dice.pick(pieces));
        break;
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::atoi(argv[1]) == 0) {
    for (int i = 1; i < argc; ++i) {
      std::ifstream in(argv[i], std::ios::binary);
      run(std::string(std::istreambuf_iterator<char>(in), {}));
    }
    return 0;
  }
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 3;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1);
  Dice dice(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  unsigned programs = 0;
  std::size_t runs = 0;
  while (std::chrono::steady_clock::now() < end) {
    const std::string text = RandomText(seed * 1'000'003 + programs++).program(1 + dice.below(4));
    run(text);
    for (int i = 0; i < 20; ++i, ++runs) run(mutated(text, dice));
  }
  std::printf("%u programs, %zu mutations, no failure\n", programs, runs);
  return 0;
}
