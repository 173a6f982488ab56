// S-ops that read each position by itself.
#include <optional>
#include <string>
#include <utility>

#include "interpreter/run.h"

namespace rasp::interpreter {
namespace {

using value::Atom;
using value::Op;
using Form = Column::Form;

void put_or_fail(value::OpResult result, graph::NodeId node, std::size_t position, Column& out,
                 Run& run) {
  if (result) {
    run.put(out, position, std::move(*result));
  } else {
    out.failures.set(position, run.fail(node, position, std::move(result.error())), run.n);
  }
}

void map_atoms(Op op, const Column& a, const Column* b, graph::NodeId node, Column& out, Run& run) {
  out.begin_atoms(run.n);
  const Column& second = b == nullptr ? a : *b;
  out.failures.merge(a.failures, second.failures, run.n);
  Atom scratch_x;
  Atom scratch_y;
  for (std::size_t i = 0; i < run.n && !run.must_end(); ++i) {
    if (!out.failures.defined(i)) continue;
    const Atom& x = a.at(i, scratch_x);
    if (b == nullptr) {
      put_or_fail(value::apply(op, x), node, i, out, run);
    } else {
      put_or_fail(value::apply(op, x, b->at(i, scratch_y)), node, i, out, run);
    }
  }
}

void compare_atoms(Op op, const Column& a, const Column& b, graph::NodeId node, Column& out,
                   Run& run) {
  out.begin_lanes(Form::kBools, run.n);
  out.failures.merge(a.failures, b.failures, run.n);
  Atom scratch_x;
  Atom scratch_y;
  for (std::size_t i = 0; i < run.n && !run.must_end(); ++i) {
    out.lanes[i] = 0;
    if (!out.failures.defined(i)) continue;
    const Atom& x = a.at(i, scratch_x);
    const Atom& y = b.at(i, scratch_y);
    if (const std::optional<bool> holds = value::compare(op, x, y)) {
      out.lanes[i] = *holds;
    } else {
      value::OpResult why = value::apply(op, x, y);
      out.failures.set(i, run.fail(node, i, std::move(why.error())), run.n);
    }
  }
}

void logic_of_atoms(Op op, const Column& a, const Column* b, Column& out, Run& run) {
  out.begin_lanes(Form::kBools, run.n);
  out.failures.merge(a.failures, b == nullptr ? a.failures : b->failures, run.n);
  for (std::size_t i = 0; i < run.n; ++i) {
    out.lanes[i] = 0;
    if (!out.failures.defined(i)) continue;
    const bool x = a.truth(i);
    if (op == Op::kNot) {
      out.lanes[i] = !x;
    } else {
      out.lanes[i] = op == Op::kAnd ? x && b->truth(i) : x || b->truth(i);
    }
  }
}

bool is_text(const Atom& atom) { return std::holds_alternative<std::string>(atom); }

void choose_lanes(const Column& condition, const Column& yes, const Column& no, Column& out,
                  std::size_t n) {
  out.begin_lanes(yes.form, n);
  for (std::size_t i = 0; i < n; ++i) {
    out.lanes[i] = condition.truth(i) ? yes.lanes[i * yes.step] : no.lanes[i * no.step];
  }
}

}  // namespace

void forbid_mixture(graph::NodeId node, Column& out, Run& run) {
  if (out.has_lanes()) return;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < run.n; ++i) {
    if (!out.failures.defined(i)) continue;
    if (!first) first = i;
    if (is_text(out.atoms[*first]) == is_text(out.atoms[i])) continue;
    const FailureId id = run.fail(
        node, i,
        {ErrorKind::kType, "strings and numbers do not mix in a sequence, and here are " +
                               value::describe(out.atoms[*first]) + " (position " +
                               std::to_string(*first) + ") and " + value::describe(out.atoms[i])});
    Failures all;
    all.set_all(id, run.n);
    out.failures.merge(Failures(out.failures), all, run.n);
    return;
  }
}

void read_tokens(std::span<const Atom> input, value::TokenKind kind, graph::NodeId node,
                 Column& out, Run& run) {
  out.begin_atoms(run.n);
  for (std::size_t i = 0; i < run.n && !run.must_end(); ++i) {
    const bool as_is =
        kind == value::TokenKind::kAsIs ||
        (kind == value::TokenKind::kString && std::holds_alternative<std::string>(input[i]));
    if (as_is) {
      run.put(out, i, input[i]);
    } else {
      put_or_fail(value::read_token(kind, input[i]), node, i, out, run);
    }
  }
}

void map(Op op, const Column& a, const Column* b, graph::NodeId node, Column& out, Run& run) {
  if (map_lanes(op, a, b, run.n, out)) return;
  if (value::is_comparison(op)) {
    compare_atoms(op, a, *b, node, out, run);
  } else if (op == Op::kAnd || op == Op::kOr || op == Op::kNot) {
    logic_of_atoms(op, a, b, out, run);
  } else {
    map_atoms(op, a, b, node, out, run);
  }
}

void choose(const Column& condition, const Column& yes, const Column& no, Column& out, Run& run) {
  const bool total = !condition.failures.any() && !yes.failures.any() && !no.failures.any();
  if (total && yes.has_lanes() && yes.form == no.form) {
    choose_lanes(condition, yes, no, out, run.n);
    return;
  }
  out.begin_atoms(run.n);
  Atom scratch;
  for (std::size_t i = 0; i < run.n && !run.must_end(); ++i) {
    FailureId failure = condition.failures.at(i);
    if (failure == kDefined) {
      const Column& read = condition.truth(i) ? yes : no;
      failure = read.failures.at(i);
      if (failure == kDefined) run.put(out, i, read.at(i, scratch));
    }
    if (failure != kDefined) out.failures.set(i, failure, run.n);
  }
}

void lookup(const value::Table& table, const Column& index, graph::NodeId node, Column& out,
            Run& run) {
  out.begin_atoms(run.n);
  out.failures = index.failures;
  Atom scratch;
  for (std::size_t i = 0; i < run.n && !run.must_end(); ++i) {
    if (!out.failures.defined(i)) continue;
    put_or_fail(value::lookup(table, index.at(i, scratch)), node, i, out, run);
  }
}

void member(const value::Table& list, const Column& element, Column& out, Run& run) {
  out.begin_lanes(Form::kBools, run.n);
  out.failures = element.failures;
  Atom scratch;
  for (std::size_t i = 0; i < run.n; ++i) {
    out.lanes[i] = out.failures.defined(i) && value::member(list, element.at(i, scratch));
  }
}

}  // namespace rasp::interpreter
