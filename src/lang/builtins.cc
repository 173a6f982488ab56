// round, indicator, range, len, zip.
#include <string>

#include "lang/containers.h"
#include "lang/machine.h"

namespace rasp::lang {

namespace {

using value::Atom;
using value::BigInt;
using value::Number;
using value::Op;

[[nodiscard]] Result<void> check_one(std::string_view name, const std::vector<Argument>& arguments,
                                     const Span& span) {
  if (arguments.size() == 1) return {};
  return fail(ErrorKind::kType, span,
              in_quotes(name) + " takes 1 argument, but " + std::to_string(arguments.size()) +
                  " are given");
}

[[nodiscard]] Result<Value> call_round(Machine& m, const std::vector<Argument>& arguments,
                                       const Span& span) {
  RASP_CHECK_OK(check_one("round", arguments, span));
  return unary(m, Op::kRound, arguments[0].value, span);
}

[[nodiscard]] Result<Value> call_indicator(Machine& m, const std::vector<Argument>& arguments,
                                           const Span& span) {
  RASP_CHECK_OK(check_one("indicator", arguments, span));
  if (!std::holds_alternative<SOp>(arguments[0].value.data)) {
    return fail(ErrorKind::kType, arguments[0].span,
                "'indicator' needs an s-op, not " + describe(arguments[0].value));
  }
  return unary(m, Op::kIndicator, arguments[0].value, span);
}

[[nodiscard]] Result<BigInt> whole(const Argument& argument) {
  if (const auto* atom = std::get_if<Atom>(&argument.value.data)) {
    const auto number = value::to_number(*atom);
    if (number && number->is_int()) {
      return BigInt(boost::multiprecision::numerator(number->to_rational()));
    }
  }
  return fail(ErrorKind::kType, argument.span,
              "'range' needs ints, not " + describe(argument.value));
}

// How many numbers from `start` by `step` come before `stop`.
[[nodiscard]] BigInt range_size(const BigInt& start, const BigInt& stop, const BigInt& step) {
  const BigInt distance = step > 0 ? BigInt(stop - start) : BigInt(start - stop);
  const BigInt stride = abs(step);
  return distance <= 0 ? BigInt(0) : BigInt((distance + stride - 1) / stride);
}

[[nodiscard]] Result<Value> call_range(Machine& m, const std::vector<Argument>& arguments,
                                       const Span& span) {
  if (arguments.empty() || arguments.size() > 3) {
    return fail(ErrorKind::kType, span,
                "'range' takes 1 to 3 arguments (stop; start, stop; start, stop, step), but " +
                    std::to_string(arguments.size()) + " are given");
  }
  std::vector<BigInt> bounds;
  for (const Argument& argument : arguments) {
    RASP_TRY(BigInt bound, whole(argument));
    bounds.push_back(std::move(bound));
  }
  BigInt start = bounds.size() > 1 ? bounds[0] : BigInt(0);
  const BigInt& stop = bounds[bounds.size() > 1 ? 1 : 0];
  const BigInt step = bounds.size() > 2 ? bounds[2] : BigInt(1);
  if (step == 0) {
    return fail(ErrorKind::kValue, arguments[2].span, "the step of 'range' must not be 0");
  }
  const BigInt size = range_size(start, stop, step);
  if (size > kMaxListSize) {
    return fail(
        ErrorKind::kLimit, span,
        "a list holds at most " + std::to_string(kMaxListSize) + " items; this range has more");
  }
  const std::size_t words = std::max(msb(abs(start) + 1), msb(abs(step))) / 64;
  RASP_CHECK_OK(m.meter.charge(size.convert_to<std::size_t>() * (3 + 2 * words), span));
  ListItems items;
  items.reserve(size.convert_to<std::size_t>());
  for (BigInt i = 0; i < size; ++i, start += step) items.push_back(Value{Number::integer(start)});
  return bounded_list(std::move(items), span);
}

[[nodiscard]] Result<Value> call_len(const std::vector<Argument>& arguments, const Span& span) {
  RASP_CHECK_OK(check_one("len", arguments, span));
  const Value& value = arguments[0].value;
  std::size_t size = 0;
  if (const auto* list = std::get_if<List>(&value.data)) {
    size = list->items->size();
  } else if (const auto* sequence = std::get_if<AppliedSequenceRef>(&value.data)) {
    size = (*sequence)->output.size();
  } else {
    return fail(
        ErrorKind::kType, arguments[0].span, "'len' needs a list, not " + describe(value),
        std::holds_alternative<SOp>(value.data) ? "the number of tokens is the s-op 'length'" : "");
  }
  return Value{value::make_int(static_cast<std::int64_t>(size))};
}

[[nodiscard]] Result<Value> call_zip(Machine& m, const std::vector<Argument>& arguments,
                                     const Span& span) {
  if (arguments.empty()) return fail(ErrorKind::kType, span, "'zip' needs at least one list");
  std::vector<List> lists;
  for (const Argument& argument : arguments) {
    if (std::holds_alternative<Dict>(argument.value.data)) {
      return fail(ErrorKind::kType, argument.span, "'zip' needs lists, not a dict");
    }
    RASP_TRY(List list, iterable(m.meter, argument.value, argument.span, "what 'zip' joins"));
    if (!lists.empty() && list.items->size() != lists[0].items->size()) {
      return fail(ErrorKind::kValue, argument.span,
                  "'zip' needs lists of one length; the first has " +
                      std::to_string(lists[0].items->size()) + " items, this one " +
                      std::to_string(list.items->size()));
    }
    lists.push_back(std::move(list));
  }
  ListItems rows;
  for (std::size_t i = 0; i < lists[0].items->size(); ++i) {
    ListItems row;
    row.reserve(lists.size());
    for (const List& list : lists) {
      RASP_CHECK_OK(m.meter.charge(weight((*list.items)[i]), span));
      row.push_back((*list.items)[i]);
    }
    RASP_CHECK_OK(m.meter.charge(6, span));
    RASP_TRY(Value whole_row, bounded_list(std::move(row), span));
    rows.push_back(std::move(whole_row));
  }
  return bounded_list(std::move(rows), span);
}

}  // namespace

Result<Value> call_builtin(Machine& m, Builtin builtin, const std::vector<Argument>& arguments,
                           const Span& span) {
  switch (builtin) {
    case Builtin::kRound:
      return call_round(m, arguments, span);
    case Builtin::kIndicator:
      return call_indicator(m, arguments, span);
    case Builtin::kRange:
      return call_range(m, arguments, span);
    case Builtin::kLen:
      return call_len(arguments, span);
    case Builtin::kZip:
      return call_zip(m, arguments, span);
    case Builtin::kNone:
      break;
  }
  return fail(ErrorKind::kType, span, "this is not a builtin function");
}

}  // namespace rasp::lang
