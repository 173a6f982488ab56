// The one table of operators: the interpreter, constant folding and the compiler's domain inference
// all call it, so an operator has one meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "base/diagnostic.h"
#include "value/atom.h"

namespace rasp::value {

enum class Op : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kPow,  // binary
  kEq,
  kNe,
  kLt,
  kGt,
  kLe,
  kGe,  // comparisons: bools
  kAnd,
  kOr,  // elementwise: bools of the operands' truth
  kNot,
  kNeg,
  kPos,
  kRound,
  kIndicator,  // unary
};
inline constexpr std::size_t kOpCount = static_cast<std::size_t>(Op::kIndicator) + 1;

// `+` and `*` make strings of at most this many code points; more is a limit error.
inline constexpr std::size_t kMaxStringLength = 1'000'000;

// Why an operator has no value; the caller knows the place.
struct OpError {
  ErrorKind kind = ErrorKind::kType;
  std::string message;
};
using OpResult = tl::expected<Atom, OpError>;

struct OpInfo {
  Op op;
  std::string_view symbol;  // "+", "==", "not", "round"
  std::uint8_t arity;       // 1 or 2
  bool comparison;
  OpResult (*apply)(std::span<const Atom> operands);
  TypeSet (*result_types)(
      std::span<const TypeSet> operands);  // empty: no operands of these types could do
};

[[nodiscard]] const OpInfo& info(Op op);
[[nodiscard]] OpResult apply(Op op, std::span<const Atom> operands);
[[nodiscard]] inline OpResult apply(Op op, const Atom& a) { return apply(op, std::span(&a, 1)); }
[[nodiscard]] OpResult apply(Op op, const Atom& a, const Atom& b);
// A comparison that the types allow; the caller knows it cannot fail (`==` and `!=` never do).
[[nodiscard]] bool is_comparison(Op op);

// What `apply` gives for a comparison, without the wrapping: n x n of them make a selector. nullopt
// where the types cannot be ordered (then `apply` says why); never for `==` and `!=`.
[[nodiscard]] std::optional<bool> compare(Op op, const Atom& a, const Atom& b);

// table[index]: the entry, or why there is none (missing key, out of range, an index of the wrong
// type).
[[nodiscard]] OpResult lookup(const Table& table, const Atom& index);
// `atom in list`.
[[nodiscard]] bool member(const Table& list, const Atom& atom);

// How a token is read: `tokens_asis`, `tokens_str`, `tokens_int`, `tokens_float`, `tokens_bool`.
enum class TokenKind : std::uint8_t { kAsIs, kString, kInt, kFloat, kBool };
[[nodiscard]] OpResult read_token(TokenKind kind, const Atom& token);
[[nodiscard]] std::string_view name_of(TokenKind kind);  // "tokens_int"
[[nodiscard]] TypeSet types_of(TokenKind kind);

// What `aggregate` gives at one position: `values` are the selected ones, in order.
[[nodiscard]] OpResult aggregate(std::span<const Atom* const> values, const Atom& otherwise);

}  // namespace rasp::value
