// The contract of the compiler, as a test: a program's weights, run and decoded, give what the
// interpreter gives, types included, wherever that gives a value.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "interpreter/interpreter.h"
#include "lang/session.h"
#include "runtime/backend.h"

namespace rasp::test {

// A source text that has run, and one of its names: an s-op or a selector.
class Source {
 public:
  Source(const std::string& text, const std::string& name) : session_(sources_) {
    const lang::Outcome outcome = session_.run(sources_.add("test.rasp", text));
    if (!outcome.ok()) {
      for (const Diagnostic& diagnostic : outcome.diagnostics) why_ += format(diagnostic, sources_);
      return;
    }
    const auto value = session_.lookup(name);
    if (!value) {
      why_ = name + " is not defined";
    } else if (const auto* sop = std::get_if<lang::SOp>(&value->data)) {
      node_ = sop->node;
    } else if (const auto* selector = std::get_if<lang::Selector>(&value->data)) {
      node_ = selector->node;
    } else {
      why_ = name + " is " + lang::describe(*value);
    }
  }

  [[nodiscard]] const std::string& why() const { return why_; }  // empty: all went well
  [[nodiscard]] const graph::Graph& graph() const { return session_.graph(); }
  [[nodiscard]] graph::NodeId node() const { return node_; }
  [[nodiscard]] const SourceMap& sources() const { return sources_; }
  [[nodiscard]] std::vector<compiler::NamedNode> names() const {
    std::vector<compiler::NamedNode> names;
    for (const auto& named : session_.named_nodes()) names.push_back({named.node, named.name});
    return names;
  }
  [[nodiscard]] Result<compiler::Compiled> compile(const compiler::Options& options) const {
    return compiler::compile(graph(), node(), names(), sources(), options);
  }

 private:
  SourceMap sources_;
  lang::Session session_;
  graph::NodeId node_ = graph::kNoNode;
  std::string why_;
};

inline std::string show(const value::Sequence& sequence) {
  std::string text;
  for (const value::Atom& atom : sequence) text += (text.empty() ? "" : ", ") + value::repr(atom);
  return "[" + text + "]";
}

struct Comparison {
  std::string mismatch;     // empty: the weights keep the contract on every input tried
  std::size_t answers = 0;  // inputs on which the interpreter has a value
};

inline std::vector<std::vector<bool>> rows_of(const interpreter::Matrix& matrix) {
  std::vector<std::vector<bool>> rows(matrix.size(), std::vector<bool>(matrix.size()));
  for (std::size_t q = 0; q < matrix.size(); ++q) {
    for (std::size_t k = 0; k < matrix.size(); ++k) rows[q][k] = matrix.at(q, k);
  }
  return rows;
}

inline std::string show(const std::vector<std::vector<bool>>& rows) {
  std::string text;
  for (const auto& row : rows) {
    if (!text.empty()) text += '/';
    for (const bool bit : row) text += bit ? '1' : '0';
  }
  return text;
}

class Comparer {
 public:
  Comparer(const graph::Graph& graph, graph::NodeId node, const model::Model& model)
      : model_(model),
        node_(node),
        selector_(graph.is_selector(node)),
        evaluator_(graph, {node}, options(model)) {
    auto loaded = runtime::make_cpu_backend(1)->load(model);
    if (!loaded) {
      result_.mismatch = "the model does not load: " + loaded.error().message;
    } else {
      executable_ = std::move(*loaded);
    }
  }

  // Stops at the first mismatch.
  Comparison on(const std::vector<value::Sequence>& inputs) {
    std::vector<std::vector<runtime::TokenId>> batch;
    std::vector<value::Sequence> wanted;
    std::vector<const value::Sequence*> shown;
    for (const value::Sequence& input : inputs) {
      if (!result_.mismatch.empty()) return result_;
      if (!evaluator_.run(input)) continue;
      auto ids = runtime::encode(model_, input);
      if (!ids) {
        result_.mismatch = "cannot encode " + show(input) + ": " + ids.error().message;
      } else if (selector_) {
        compare_pattern(input, *ids);
      } else if (auto want = evaluator_.sequence(node_)) {
        wanted.push_back(std::move(*want));
        batch.push_back(std::move(*ids));
        shown.push_back(&input);
      }
    }
    if (batch.empty() || !result_.mismatch.empty()) return result_;
    const auto outputs = executable_->run(batch);
    if (!outputs) {
      result_.mismatch = "the model does not run: " + outputs.error().message;
      return result_;
    }
    for (std::size_t i = 0; i < batch.size() && result_.mismatch.empty(); ++i) {
      compare_sequence(*shown[i], wanted[i], runtime::decode(model_, (*outputs)[i]));
      if (model_.causal) compare_steps(*shown[i], batch[i], (*outputs)[i]);
    }
    return result_;
  }

 private:
  static interpreter::Options options(const model::Model& model) {
    interpreter::Options options;
    options.causal = model.causal;
    return options;
  }

  void report(const value::Sequence& input, const std::string& want, const std::string& got) {
    result_.mismatch = "on " + show(input) + "\n  interpreter " + want + "\n  weights     " + got;
  }

  void compare_sequence(const value::Sequence& input, const value::Sequence& want,
                        const Result<value::Sequence>& got) {
    ++result_.answers;
    const bool same = got && std::equal(want.begin(), want.end(), got->begin(), got->end(),
                                        value::AtomIdentical());
    if (!same) report(input, show(want), got ? show(*got) : got.error().message);
  }

  // Position by position a causal model gives the very rows of the whole pass.
  void compare_steps(const value::Sequence& input, const std::vector<runtime::TokenId>& ids,
                     const model::Matrix& whole) {
    const auto state = executable_->start();
    if (!state) return report(input, "", state.error().message);
    for (std::size_t i = 0; i < ids.size() && result_.mismatch.empty(); ++i) {
      const auto y = (*state)->step(ids[i]);
      if (!y || !(y->array() == whole.row(static_cast<Eigen::Index>(i)).array()).all())
        report(input, "the row of a whole pass at position " + std::to_string(i),
               y ? "another one, step by step" : y.error().message);
    }
  }

  void compare_pattern(const value::Sequence& input, const std::vector<runtime::TokenId>& ids) {
    const auto want = evaluator_.matrix(node_);
    if (!want) return;
    ++result_.answers;
    const auto trace = executable_->trace(ids);
    if (!trace) return report(input, show(rows_of(*want)), trace.error().message);
    const auto got = runtime::decode_pattern(model_, *trace);
    if (got != rows_of(*want)) report(input, show(rows_of(*want)), show(got));
  }

  const model::Model& model_;
  graph::NodeId node_;
  bool selector_;
  interpreter::Evaluator evaluator_;
  std::unique_ptr<runtime::Executable> executable_;
  Comparison result_;
};

// `count` inputs of random length (every length comes first) over a vocabulary.
inline std::vector<value::Sequence> random_inputs(std::mt19937_64& random,
                                                  const std::vector<value::Atom>& vocabulary,
                                                  std::size_t max_length, std::size_t count) {
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  std::vector<value::Sequence> inputs;
  while (inputs.size() < std::max(count, max_length)) {
    const std::size_t n = inputs.size() < max_length ? inputs.size() + 1 : pick(max_length) + 1;
    // Few distinct tokens now and then: ties, repetitions, everything equal.
    const std::size_t distinct =
        pick(3) == 0 ? std::min<std::size_t>(2, vocabulary.size()) : vocabulary.size();
    const std::size_t from = pick(vocabulary.size());
    value::Sequence input;
    for (std::size_t i = 0; i < n; ++i) {
      input.push_back(vocabulary[(from + pick(distinct)) % vocabulary.size()]);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

// Every input of length 1 to `max_length`.
inline std::vector<value::Sequence> all_inputs(const std::vector<value::Atom>& vocabulary,
                                               std::size_t max_length) {
  std::vector<value::Sequence> inputs;
  std::size_t begin = 0;
  for (const value::Atom& token : vocabulary) inputs.push_back({token});
  for (std::size_t n = 2; n <= max_length; ++n) {
    const std::size_t end = inputs.size();
    for (std::size_t i = begin; i < end; ++i) {
      for (const value::Atom& token : vocabulary) {
        inputs.push_back(inputs[i]);
        inputs.back().push_back(token);
      }
    }
    begin = end;
  }
  return inputs;
}

}  // namespace rasp::test
