#include "runtime/codec.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace rasp::runtime {
namespace {

__extension__ using Wide = __int128;

constexpr std::size_t kShownTokens = 12;

std::string listed(const std::vector<const value::Atom*>& vocabulary) {
  std::string text;
  for (std::size_t i = 0; i < vocabulary.size() && i < kShownTokens; ++i)
    text += (i == 0 ? "" : ", ") + value::repr(*vocabulary[i]);
  if (vocabulary.size() > kShownTokens)
    text += ", ... (" + std::to_string(vocabulary.size()) + " tokens)";
  return text;
}

// The fraction with a denominator of at most `limit` that is nearest to part / 2^62, in [0, 1).
std::pair<std::int64_t, std::int64_t> nearest_in_unit(std::int64_t part, std::int64_t limit) {
  constexpr Wide kOne = Wide{1} << 62;
  struct Bound {
    Wide top, bottom;
    Wide distance;  // to the target, times bottom, times 2^62
  };
  Bound low{0, 1, part};
  Bound high{1, 1, kOne - part};
  // `near` takes as many steps towards `far` as stay on its side of the target; false when none.
  const auto walk = [limit](Bound& near, const Bound& far) {
    const Wide room = (limit - near.bottom) / far.bottom;
    const Wide steps = far.distance == 0 ? 0 : std::min(near.distance / far.distance, room);
    near.top += steps * far.top;
    near.bottom += steps * far.bottom;
    near.distance -= steps * far.distance;
    return steps != 0;
  };
  while (low.distance != 0 && high.distance != 0) {
    const bool low_moved = walk(low, high);
    if (low.distance == 0 || (!walk(high, low) && !low_moved)) break;
  }
  // distance / bottom is how far it is.
  const Bound& best = low.distance * high.bottom <= high.distance * low.bottom ? low : high;
  return {static_cast<std::int64_t>(best.top), static_cast<std::int64_t>(best.bottom)};
}

}  // namespace

value::Number nearest_fraction(double y, std::int64_t max_denominator) {
  constexpr double kAllWhole = 0x1p53;  // doubles from here on have no fraction
  if (std::abs(y) >= kAllWhole) return value::Number::inexact(y).as_int();
  const double whole = std::floor(y);
  const double part = std::nearbyint(std::ldexp(y - whole, 62));
  const auto units = static_cast<std::int64_t>(whole);
  if (part >= 0x1p62) return value::Number::integer(units + 1);
  const auto [top, bottom] = nearest_in_unit(static_cast<std::int64_t>(part), max_denominator);
  if (bottom == 1) return value::Number::integer(units + top);
  return value::Number::integer(units) + value::Number::rational(top, bottom);
}

Codec::Codec(const model::Model& model)
    : max_length_(model.max_length),
      outputs_(static_cast<std::size_t>(model.unembedding.cols())),
      decoder_(model.decoder) {
  for (std::size_t t = 0; t < model.vocabulary.size(); ++t)
    ids_.emplace(model.vocabulary[t], static_cast<TokenId>(t));
  for (const value::Number& code : decoder_.codes) codes_.push_back(code.to_double());
}

Result<std::vector<TokenId>> Codec::encode(std::span<const value::Atom> input) const {
  if (input.empty())
    return fail(ErrorKind::kInput, {}, "the input is empty; a model needs at least one token");
  if (input.size() > max_length_)
    return fail(ErrorKind::kInput, {},
                "the input has " + std::to_string(input.size()) +
                    " tokens; the model takes at most " + std::to_string(max_length_),
                "compile with a larger --max-len");
  std::vector<TokenId> ids;
  ids.reserve(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    const auto found = ids_.find(input[i]);
    if (found != ids_.end()) {
      ids.push_back(found->second);
      continue;
    }
    std::vector<const value::Atom*> vocabulary(ids_.size());
    for (const auto& [token, id] : ids_) vocabulary[id] = &token;
    return fail(ErrorKind::kInput, {},
                "the token " + value::repr(input[i]) + " at position " + std::to_string(i) +
                    " is not in the model's vocabulary",
                "the vocabulary is " + listed(vocabulary));
  }
  return ids;
}

Result<value::Sequence> Codec::decode(const model::Matrix& y) const {
  if (decoder_.kind == model::Decoder::Kind::kPattern)
    return fail(ErrorKind::kModel, {},
                "the model answers with a selector, which is read from its attention");
  if (static_cast<std::size_t>(y.cols()) != outputs_)
    return fail(ErrorKind::kModel, {},
                "the model has " + std::to_string(outputs_) + " outputs, but " +
                    std::to_string(y.cols()) + " were given to decode");
  value::Sequence sequence;
  sequence.reserve(static_cast<std::size_t>(y.rows()));
  for (Eigen::Index row = 0; row < y.rows(); ++row) {
    const double* outputs = y.row(row).data();
    if (!std::all_of(outputs, outputs + outputs_, [](double v) { return std::isfinite(v); }))
      return fail(ErrorKind::kModel, {},
                  "the output at position " + std::to_string(row) + " is not a finite number",
                  "the model's weights are too large for its dtype");
    sequence.push_back(decode_row(outputs));
  }
  return sequence;
}

value::Atom Codec::decode_row(const double* y) const {
  value::Atom atom;
  if (decoder_.kind == model::Decoder::Kind::kArgmax) {
    atom =
        decoder_
            .values[static_cast<std::size_t>(std::max_element(y, y + decoder_.values.size()) - y)];
  } else if (!codes_.empty()) {
    auto nearest = static_cast<std::size_t>(std::lower_bound(codes_.begin(), codes_.end(), y[0]) -
                                            codes_.begin());
    if (nearest == codes_.size() ||
        (nearest > 0 && y[0] - codes_[nearest - 1] <= codes_[nearest] - y[0]))
      --nearest;
    atom = decoder_.values[nearest];
  } else if (decoder_.multiples) {
    const double count = std::nearbyint(y[0] * static_cast<double>(decoder_.max_denominator));
    const value::Number units = value::Number::inexact(count).as_int();
    const value::Number value =
        value::Number::divide(units, value::Number::integer(decoder_.max_denominator));
    atom = std::clamp(value.is_integral() ? value.as_int() : value, decoder_.minimum,
                      decoder_.maximum);
  } else {
    atom = std::clamp(nearest_fraction(y[0], decoder_.max_denominator), decoder_.minimum,
                      decoder_.maximum);
  }
  const bool is_float = decoder_.type_output >= 0
                            ? y[decoder_.type_output] > 0.5
                            : decoder_.number_type == model::Decoder::NumberType::kFloat;
  auto* number = std::get_if<value::Number>(&atom);
  if (number != nullptr && is_float) *number = number->as_float();
  return atom;
}

std::vector<std::vector<bool>> decode_pattern(const model::Model& model, const Trace& trace) {
  const model::Matrix& weights =
      trace.attention[model.decoder.pattern_layer][model.decoder.pattern_head];
  std::vector<std::vector<bool>> rows;
  for (Eigen::Index query = 1; query < weights.rows(); ++query) {
    std::vector<bool> row;
    for (Eigen::Index key = 1; key < weights.cols(); ++key) row.push_back(weights(query, key) > 0);
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<void> check_tokens(std::span<const TokenId> tokens, std::size_t sequence,
                          std::size_t vocabulary, std::size_t max_length) {
  const auto refuse = [sequence](const std::string& what) {
    return fail(ErrorKind::kInput, {}, "sequence " + std::to_string(sequence) + " " + what);
  };
  if (tokens.empty()) return refuse("is empty");
  if (tokens.size() > max_length)
    return refuse("has " + std::to_string(tokens.size()) + " tokens; the model takes at most " +
                  std::to_string(max_length));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] >= vocabulary)
      return refuse("has the token id " + std::to_string(tokens[i]) + " at position " +
                    std::to_string(i) + "; the vocabulary has " + std::to_string(vocabulary) +
                    " tokens");
  return {};
}

Result<std::vector<TokenId>> encode(const model::Model& model, std::span<const value::Atom> input) {
  return Codec(model).encode(input);
}

Result<value::Sequence> decode(const model::Model& model, const model::Matrix& y) {
  return Codec(model).decode(y);
}

}  // namespace rasp::runtime
