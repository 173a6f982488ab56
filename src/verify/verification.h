// One solution against one puzzle: the steps, and what they share. Used by puzzle.cc alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/session.h"
#include "verify/puzzle.h"
#include "verify/search.h"
#include "verify/sides.h"

namespace rasp::verify {

// Ends the work on a puzzle at once: the verdict and why.
struct Stop {
  PuzzleVerdict verdict = PuzzleVerdict::kError;
  std::string reason;
  std::optional<Diagnostic> diagnostic;
};
template <typename T = void>
using Step = tl::expected<T, Stop>;

[[nodiscard]] inline tl::unexpected<Stop> stop(PuzzleVerdict verdict, std::string reason) {
  return tl::make_unexpected(Stop{verdict, std::move(reason), std::nullopt});
}

[[nodiscard]] inline tl::unexpected<Stop> stop(PuzzleVerdict verdict, Diagnostic diagnostic) {
  std::string reason = diagnostic.message;
  return tl::make_unexpected(Stop{verdict, std::move(reason), std::move(diagnostic)});
}

// A program applied to an input, as `f(1)("abc")` says.
struct Applied {
  graph::NodeId node = graph::kNoNode;
  value::Sequence input;
};

class Verification {
 public:
  Verification(lang::Session& session, const lang::KnownPuzzle& known, const SourceMap& sources,
               const PuzzleOptions& options, PuzzleReport& report)
      : session_(session),
        known_(known),
        puzzle_(known.puzzle),
        sources_(sources),
        options_(options),
        report_(report),
        halt_(halt_of(options)) {}

  // Everything, in order; what ends it early is in the error.
  [[nodiscard]] Step<> run();

 private:
  using Check = syntax::Puzzle::Check;

  [[nodiscard]] static Halt halt_of(const PuzzleOptions& options);
  [[nodiscard]] tl::unexpected<Stop> early_end() const;
  // An error of the solution's own.
  [[nodiscard]] tl::unexpected<Stop> broken(Diagnostic problem) const;

  [[nodiscard]] Step<lang::Value> evaluate(syntax::ExprId id);
  [[nodiscard]] const syntax::Expr& expr(syntax::ExprId id) const { return (*known_.program)[id]; }
  [[nodiscard]] const graph::Graph& graph() const { return session_.graph(); }

  Step<> find_space();
  Step<std::optional<Applied>> applied(syntax::ExprId id);
  Step<> try_example(const Check& check);
  Step<> try_values(const Check& check);
  Step<> try_spec(const Check& check);
  Step<std::optional<Comparison>> comparison(const Check& check);
  Step<> compare_everywhere(const Check& check, const Comparison& what);
  Step<> weigh(graph::NodeId node);
  Step<> compare_weights(const Subject& subject);
  Step<> check_limits();

  [[nodiscard]] tl::unexpected<Stop> incomparable(const Check& check) const;
  PuzzleCounterexample example_of(const Check& check) const;
  void offer(PuzzleCounterexample example, graph::NodeId node);
  [[nodiscard]] bool smaller(const value::Sequence& a, const value::Sequence& b) const;
  [[nodiscard]] std::size_t rank(const value::Atom& token) const;
  [[nodiscard]] Space space(std::string_view stage) const;
  void add_subject(graph::NodeId node);

  lang::Session& session_;
  const lang::KnownPuzzle& known_;
  const syntax::Puzzle& puzzle_;
  const SourceMap& sources_;
  const PuzzleOptions& options_;
  PuzzleReport& report_;
  Halt halt_;
  value::Sequence vocabulary_;
  std::uint64_t min_length_ = 1;
  std::uint64_t max_length_ = 0;
  std::vector<graph::NodeId> subjects_;  // what is compiled
};

}  // namespace rasp::verify
