// Runs the fuzz target without libFuzzer: `repl_fuzz [SECONDS [SEED]]` makes random sessions for so
// long (default 3 seconds, seed 1), or `repl_fuzz FILE...` replays files.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

constexpr std::array<std::string_view, 46> kLines = {
    "x = indices;",
    "x = x + x;",
    "x = tokens_int;",
    "y = aggregate(select(x, indices, ==), tokens, \"-\");",
    "s = select(tokens, tokens, ==);",
    "s = s and select(indices, indices, <);",
    "s;",
    "x;",
    "y;",
    "x/0;",
    "1/x;",
    "x(\"abc\");",
    "s(\"abc\");",
    "l = [x, s, 1, [2, {\"k\": x}]];",
    "l;",
    "l[0];",
    "d = {1: \"a\", \"b\": s};",
    "d;",
    "def f(a) { return a + x; }",
    "f(1);",
    "f(f);",
    "for i in range(3) { x = x + i; }",
    "set example \"ab\"",
    "set example [1, 2.5, True]",
    "set example \"\"",
    "set selector example x",
    "show example",
    "examples off",
    "examples on",
    "full seq display on",
    "full seq display off",
    ":type x",
    ":depth x",
    ":compile x",
    ":source f",
    ":reset",
    ":nothing",
    "help shift",
    "expect x(\"ab\") == [0, 1];",
    "draw(x);",
    "draw(y, \"ab\");",
    "out;",
    "tokens = tokens_int;",
    "sort(tokens, tokens);",
    "load \"nothere\";",
    "puzzle p(q) { \"d\"; vocab \"ab\"; length 1 to 2; expect p(1)(\"a\") == \"a\"; }",
};

std::string session(std::mt19937& random) {
  std::string text;
  for (std::size_t i = 1 + random() % 12; i > 0; --i) {
    text += kLines[random() % kLines.size()];
    text += random() % 4 == 0 ? " " : "\n";
  }
  for (std::size_t edits = random() % 4; edits > 0 && !text.empty(); --edits) {
    const std::size_t at = random() % text.size();
    if (random() % 2 == 0) {
      text[at] = static_cast<char>(random() % 256);
    } else {
      text.erase(at, 1 + random() % 10);
    }
  }
  return text;
}

}  // namespace

int main(int count, char** values) {
  char* end = nullptr;
  const double seconds = count > 1 ? std::strtod(values[1], &end) : 3;
  if (count > 1 && *end != '\0') {
    for (int i = 1; i < count; ++i) {
      std::ifstream file(values[i], std::ios::binary);
      run({std::istreambuf_iterator<char>(file), {}});
    }
    return 0;
  }
  std::mt19937 random(count > 2 ? static_cast<unsigned>(std::atoi(values[2])) : 1u);
  std::size_t runs = 0;
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
         seconds) {
    run(session(random));
    ++runs;
  }
  std::printf("%zu sessions\n", runs);
  return runs > 0 ? 0 : 1;
}
