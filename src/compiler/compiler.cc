#include "compiler/compiler.h"

#include <algorithm>
#include <array>
#include <set>

#include "compiler/causal.h"
#include "compiler/domains.h"
#include "compiler/emit.h"
#include "compiler/encode.h"
#include "compiler/halted.h"
#include "compiler/lower.h"
#include "compiler/simplify.h"

namespace rasp::compiler {

using graph::Graph;
using graph::NodeId;

namespace {

// Names and places of the program's nodes, by way of the graph nodes they came from.
class Labeller {
 public:
  Labeller(const Graph& graph, NodeId root, const std::vector<NamedNode>& names,
           const SourceMap& sources)
      : graph_(graph), root_(root), sources_(sources) {
    for (const NamedNode& named : names) names_.emplace(named.node, named.name);
  }

  // A node goes by the expression of the first source node that became it; where names are kept, by
  // the name of the first that has one.
  Labels labels(const Simplified& program, bool keep_names) const {
    const Ir& ir = program.ir;
    std::vector<NodeId> source(ir.size(), graph::kNoNode);
    std::vector<bool> named(ir.size(), false);
    for (NodeId node = 0; node < program.of_node.size(); ++node) {
      const IrId id = program.of_node[node];
      const bool has_name = keep_names && names_.contains(node);
      if (id == kNoIr || named[id] || (source[id] != graph::kNoNode && !has_name)) continue;
      source[id] = node;
      named[id] = has_name;
    }
    Labels labels;
    for (IrId id = 0; id < ir.size(); ++id) {
      NodeId from = source[id] != graph::kNoNode ? source[id] : ir[id].origin;
      const bool width =
          ir[id].kind == IrKind::kWidth && !named[id] && source[ir[id].args[0]] != graph::kNoNode;
      if (width) from = source[ir[id].args[0]];
      const bool unknown = from == graph::kNoNode;
      const std::string label = unknown     ? ""
                                : named[id] ? names_.at(from)
                                            : graph::expression(graph_, from);
      labels.name.push_back(width ? "width of " + label : label);
      labels.origin.push_back(
          unknown ? "" : place_in_model(sources_, graph_[root_].span, graph_[from].span));
    }
    return labels;
  }

  Diagnostic diagnostic(const Ir& ir, const Refusal& refusal, NodeId root) const {
    const NodeId origin = refusal.node == kNoIr || ir[refusal.node].origin == graph::kNoNode
                              ? root
                              : ir[refusal.node].origin;
    return error(ErrorKind::kCompile, graph_[origin].span,
                 "cannot compile " + name(origin) + ": " + refusal.reason, refusal.hint);
  }

 private:
  std::string name(NodeId node) const {
    const auto found = names_.find(node);
    return found != names_.end() ? found->second : graph::expression(graph_, node);
  }

  const Graph& graph_;
  NodeId root_;
  const SourceMap& sources_;
  std::map<NodeId, std::string> names_;
};

Result<void> check_options(const Options& options, const Span& span) {
  if (options.vocabulary.empty()) {
    return fail(ErrorKind::kInput, span, "the vocabulary is empty",
                "give at least one token with --vocab");
  }
  if (options.max_length == 0) {
    return fail(ErrorKind::kInput, span, "the maximal length must be at least 1",
                "give it with --max-len");
  }
  std::set<std::pair<int, std::string>> seen;
  for (const value::Atom& token : options.vocabulary) {
    const int type = static_cast<int>(value::type_of(token));
    if (!seen.emplace(type, value::repr(token)).second) {
      return fail(ErrorKind::kInput, span,
                  "the token " + value::repr(token) + " is in the vocabulary twice");
    }
  }
  const auto& passes = pass_names();
  if (!options.dump.empty() &&
      std::find(passes.begin(), passes.end(), options.dump) == passes.end()) {
    std::string list;
    for (const std::string& pass : passes) list += (list.empty() ? "" : ", ") + pass;
    return fail(ErrorKind::kInput, span, "there is no pass '" + options.dump + "'",
                "the passes are " + list);
  }
  return {};
}

std::vector<Diagnostic> look_ahead_notes(const Graph& graph, NodeId root) {
  std::vector<Diagnostic> notes;
  for (const NodeId id : selectors_looking_ahead(graph, root)) {
    notes.push_back(
        note(graph[id].span, "the selector " + graph::expression(graph, id) +
                                 " can select later positions; with --causal they are masked"));
  }
  return notes;
}

std::vector<IrId> kept_nodes(const Simplified& program, const std::vector<NamedNode>& names) {
  std::vector<IrId> keep;
  for (const NamedNode& named : names) {
    if (named.node >= program.of_node.size()) continue;
    const IrId id = program.of_node[named.node];
    if (id == kNoIr || is_selector(program.ir[id].kind)) continue;
    if (program.ir[id].kind != IrKind::kConst) keep.push_back(id);
  }
  std::sort(keep.begin(), keep.end());
  keep.erase(std::unique(keep.begin(), keep.end()), keep.end());
  return keep;
}

// A model that broke one of its claims is a bug of ours or a limit of the arithmetic: either way it
// is not handed out.
Result<void> demand_certificate(const model::Model& model, const Span& span) {
  if (model.certificate.holds) return {};
  std::string reason = "the certificate does not hold";
  for (const model::CertificateLine& line : model.certificate.lines) {
    if (!line.holds) {
      reason += ": " + line.part + " (" + line.name + "), " + line.detail;
      break;
    }
  }
  return fail(
      ErrorKind::kCompile, span, reason,
      "a shorter length, a smaller vocabulary or --dtype f64 gives the arithmetic more room");
}

}  // namespace

std::string place_in_model(const SourceMap& sources, const Span& sop, const Span& node) {
  if (!node.valid()) return "";
  const std::string line = std::to_string(sources.place(node.file, node.begin).line);
  if (node.file == sop.file) return "line " + line;
  const std::string& path = sources.name(node.file);
  const std::size_t folder = path.find_last_of('/');
  return (folder == std::string::npos ? path : path.substr(folder + 1)) + ":" + line;
}

const std::vector<std::string>& pass_names() {
  static const std::vector<std::string> names{"simplify", "domains", "lower",  "encode",
                                              "layout",   "emit",    "certify"};
  return names;
}

namespace {

// The passes in order; with a dump, those up to the one that is shown. Throws Refusal.
Compiled run_passes(const Graph& graph, NodeId sop, const Labeller& labeller,
                    const std::vector<NamedNode>& names, const Options& options,
                    Simplified& program) {
  Compiled result;
  const auto shown = [&](std::string_view pass, const auto& text) {
    if (options.dump == pass) result.dump = text();
    return options.dump == pass;
  };
  std::vector<IrId> roots{program.root};
  if (program.root_is_float != kNoIr) roots.push_back(program.root_is_float);
  if (shown("simplify", [&] { return print(program.ir, roots); })) return result;

  Domains domains(program.ir, options.vocabulary, options.halt);
  if (shown("domains", [&] { return print(program.ir, domains, roots); })) return result;

  const auto keep = options.fuse ? std::vector<IrId>{} : kept_nodes(program, names);
  const Circuit circuit = Lowering(program.ir, domains, options.dtype, keep, options.halt)
                              .run(program.root, program.root_is_float);
  if (shown("lower", [&] { return print(circuit); })) return result;

  const Encoded encoded = encode(circuit, options.halt);
  if (shown("encode", [&] { return print(circuit, encoded); })) return result;

  const Layout layout = lay_out(circuit, encoded);
  if (shown("layout", [&] { return print(circuit, encoded, layout); })) return result;

  result.model = emit(circuit, encoded, layout, labeller.labels(program, !options.fuse), options);
  const std::array<NodeId, 1> root{sop};
  result.model.program = graph::print(graph, root);
  if (shown("emit", [&] { return print(result.model); })) return result;

  result.model.certificate = certify(result.model, options.halt);
  (void)shown("certify", [&] { return print(result.model.certificate); });
  return result;
}

}  // namespace

Result<Compiled> compile(const Graph& graph, NodeId sop, const std::vector<NamedNode>& names,
                         const SourceMap& sources, const Options& options) {
  const Span span = graph[sop].span;
  RASP_CHECK_OK(check_options(options, span));
  const Labeller labeller(graph, sop, names, sources);
  Simplified program = simplify(graph, sop, options.causal, options.max_length, options.vocabulary);
  try {
    Compiled result = run_passes(graph, sop, labeller, names, options, program);
    if (!options.dump.empty()) return result;
    RASP_CHECK_OK(demand_certificate(result.model, span));
    if (options.causal) result.notes = look_ahead_notes(graph, sop);
    return result;
  } catch (const Refusal& refusal) {
    return fail(labeller.diagnostic(program.ir, refusal, sop));
  } catch (const Halted&) {
    return fail(ErrorKind::kLimit, span, "the compilation was ended early");
  }
}

}  // namespace rasp::compiler
