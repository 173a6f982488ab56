// The inputs of a comparison, by number: every one there is, or a random choice. Any input can be
// made from its number alone, so that threads need nothing from each other.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "runtime/backend.h"

namespace rasp::verify {

using Tokens = std::vector<runtime::TokenId>;

// |V| + |V|^2 + ... + |V|^N; `limit` + 1 when it is more than `limit`.
[[nodiscard]] std::uint64_t count_inputs(std::uint64_t vocabulary, std::uint64_t max_length,
                                         std::uint64_t limit);

// Shorter first, then by the order of the vocabulary.
[[nodiscard]] bool smaller(const Tokens& a, const Tokens& b);

class Inputs {
 public:
  // Every input of these lengths, smallest first; fewer than 2^63.
  [[nodiscard]] static Inputs all(std::uint64_t vocabulary, std::uint64_t min_length,
                                  std::uint64_t max_length);
  // `count` inputs, every length equally often, shorter first.
  [[nodiscard]] static Inputs random(std::uint64_t vocabulary, std::uint64_t min_length,
                                     std::uint64_t max_length, std::uint64_t count,
                                     std::uint64_t seed);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Inputs come in blocks: what is computed at once, and what a random generator is seeded for.
  [[nodiscard]] std::uint64_t block_size() const { return block_size_; }
  [[nodiscard]] std::uint64_t blocks() const { return (count_ + block_size_ - 1) / block_size_; }

  // Walks the inputs of one block; allocates nothing once `tokens` had the longest length.
  class Cursor {
   public:
    Cursor(const Inputs& inputs, std::uint64_t block);
    [[nodiscard]] bool done() const { return next_ == end_; }
    [[nodiscard]] std::uint64_t number() const { return next_; }  // of what `read` gives next
    void read(Tokens& tokens);

   private:
    const Inputs* inputs_;
    std::uint64_t next_, end_;
    std::mt19937_64 generator_;
  };

 private:
  Inputs(std::uint64_t vocabulary, std::uint64_t min_length, std::uint64_t max_length,
         std::uint64_t count);

  std::uint64_t vocabulary_;
  std::uint64_t min_length_;
  std::uint64_t max_length_;
  std::uint64_t count_;
  std::uint64_t block_size_;
  bool random_ = false;
  std::uint64_t seed_ = 0;
};

}  // namespace rasp::verify
