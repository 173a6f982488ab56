#include "verify/inputs.h"

#include <algorithm>

namespace rasp::verify {
namespace {

// Rows of the residual stream that a block keeps busy; a block is also how long Ctrl-C waits.
constexpr std::uint64_t kRowsInABlock = 2048;
constexpr std::uint64_t kMaxBlock = 256;

// A number below `bound`, each equally likely. std::uniform_int_distribution may differ between
// libraries; a seed has to mean the same inputs everywhere.
std::uint64_t below(std::mt19937_64& generator, std::uint64_t bound) {
  const std::uint64_t limit = std::mt19937_64::max() - std::mt19937_64::max() % bound;
  std::uint64_t value = generator();
  while (value >= limit) value = generator();
  return value % bound;
}

}  // namespace

std::uint64_t count_inputs(std::uint64_t vocabulary, std::uint64_t max_length,
                           std::uint64_t limit) {
  std::uint64_t total = 0;
  std::uint64_t of_length = 1;
  for (std::uint64_t n = 1; n <= max_length; ++n) {
    if (of_length > limit / vocabulary) return limit + 1;
    of_length *= vocabulary;
    if (of_length > limit - total) return limit + 1;
    total += of_length;
  }
  return total;
}

bool smaller(const Tokens& a, const Tokens& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

Inputs::Inputs(std::uint64_t vocabulary, std::uint64_t min_length, std::uint64_t max_length,
               std::uint64_t count)
    : vocabulary_(vocabulary),
      min_length_(min_length),
      max_length_(max_length),
      count_(count),
      block_size_(std::clamp<std::uint64_t>(kRowsInABlock / (max_length + 1), 1, kMaxBlock)) {}

Inputs Inputs::all(std::uint64_t vocabulary, std::uint64_t min_length, std::uint64_t max_length) {
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 63) - 2;
  return {vocabulary, min_length, max_length,
          count_inputs(vocabulary, max_length, kMost) -
              count_inputs(vocabulary, min_length - 1, kMost)};
}

Inputs Inputs::random(std::uint64_t vocabulary, std::uint64_t min_length, std::uint64_t max_length,
                      std::uint64_t count, std::uint64_t seed) {
  Inputs inputs(vocabulary, min_length, max_length, count);
  inputs.random_ = true;
  inputs.seed_ = seed;
  return inputs;
}

Inputs::Cursor::Cursor(const Inputs& inputs, std::uint64_t block)
    : inputs_(&inputs),
      next_(block * inputs.block_size_),
      end_(std::min(inputs.count_, next_ + inputs.block_size_)) {
  if (!inputs.random_) return;
  std::seed_seq seed{static_cast<std::uint32_t>(inputs.seed_),
                     static_cast<std::uint32_t>(inputs.seed_ >> 32),
                     static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32)};
  generator_.seed(seed);
}

void Inputs::Cursor::read(Tokens& tokens) {
  const std::uint64_t base = inputs_->vocabulary_;
  const std::uint64_t number = next_++;
  if (inputs_->random_) {
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t lengths = inputs_->max_length_ - inputs_->min_length_ + 1;
    const Wide scaled = Wide{number + 1} * lengths + inputs_->count_ - 1;
    tokens.resize(static_cast<std::size_t>(inputs_->min_length_ - 1 + scaled / inputs_->count_));
    for (runtime::TokenId& token : tokens) {
      token = static_cast<runtime::TokenId>(below(generator_, base));
    }
    return;
  }
  // A number in base |V|, behind those of all shorter inputs.
  std::uint64_t rest = number;
  std::uint64_t of_length = base;
  std::size_t length = 1;
  for (; length < inputs_->min_length_; ++length) of_length *= base;
  for (; rest >= of_length; ++length) {
    rest -= of_length;
    of_length *= base;
  }
  tokens.resize(length);
  for (std::size_t i = length; i-- > 0; rest /= base) {
    tokens[i] = static_cast<runtime::TokenId>(rest % base);
  }
}

}  // namespace rasp::verify
