#include "cli/display.h"

#include <algorithm>
#include <unordered_map>

#include "cli/format.h"

namespace rasp::cli {
namespace {

constexpr std::string_view kDeep = "        ";
constexpr std::size_t kMaxLineNesting = 8;  // lists in lists that get a line for each element

// Whether a list or dict with this element needs a line for each of its elements.
bool needs_lines(const lang::Value& element) {
  return std::holds_alternative<lang::List>(element.data) ||
         std::holds_alternative<lang::Dict>(element.data) ||
         std::holds_alternative<lang::SOp>(element.data) ||
         std::holds_alternative<lang::Selector>(element.data);
}

}  // namespace

// Writes one value, line by line. `prefix` stands in front of the first line (the key of a dict's
// entry), `indent` in front of every line.
class Display::Writer {
 public:
  explicit Writer(Display& display)
      : display_(display),
        settings_(*display.settings_),
        graph_(display.workspace_->session().graph()) {}

  void value(std::string_view name, const lang::Value& value, const std::string& indent,
             const std::string& prefix, std::size_t depth) {
    const std::string start = indent + prefix + "    ";
    if (shown_.text.size() > kMaxShown) {
      if (!shown_.text.ends_with("…\n")) shown_.text += "…\n";
    } else if (const auto* sop = std::get_if<lang::SOp>(&value.data)) {
      this->sop(name, sop->node, start, indent);
    } else if (const auto* selector = std::get_if<lang::Selector>(&value.data)) {
      this->selector(name, selector->node, start, indent);
    } else if (const auto* list = std::get_if<lang::List>(&value.data)) {
      container("list", name, value, *list->items, {'[', ']'}, indent, start, depth);
    } else if (const auto* dict = std::get_if<lang::Dict>(&value.data)) {
      container("dict", name, value, *dict->items, {'{', '}'}, indent, start, depth);
    } else if (const auto* function = std::get_if<lang::FunctionRef>(&value.data)) {
      line(start + format_function(**function, display_.workspace_->sources()));
    } else {
      simple(name, value, start, indent);
    }
  }

  void applied(const lang::Value& value) {
    const std::string indent(kDeep);
    if (const auto* matrix = std::get_if<lang::AppliedMatrixRef>(&value.data)) {
      line(indent + "=");
      shown_.text += format_grid((*matrix)->input, to_matrix((*matrix)->rows), indent);
      return;
    }
    const auto& sequence = std::get<lang::AppliedSequenceRef>(value.data);
    if (settings_.full_sequences && !folds(sequence->output)) {
      line(indent + "=");
      shown_.text +=
          format_full_sequence(sequence->input, sequence->output, indent, settings_.max_items);
    } else {
      line(indent + "=  " + format_sequence(sequence->output, settings_.max_items) +
           skipped(sequence->output));
    }
  }

  void drawing(std::string_view given_name, graph::NodeId node, const Example& example) {
    const graph::Depth depth = graph::depth(graph_, node);
    const std::string name = given_name.empty() ? label(node) : std::string(given_name);
    line("    drawing: " + call(name, example) + ", " + std::to_string(depth.layers) +
         (depth.layers == 1 ? " layer" : " layers"));
    std::vector<graph::NodeId> selectors;
    const graph::NodeId roots[] = {node};
    for (const graph::NodeId id : graph::reachable(graph_, roots)) {
      if (graph_[id].kind == graph::Kind::kAggregate) selectors.push_back(graph_[id].args[0]);
    }
    std::sort(selectors.begin(), selectors.end());
    selectors.erase(std::unique(selectors.begin(), selectors.end()), selectors.end());
    for (const graph::NodeId id : selectors) {
      grid(label(id) + ":", id, example, std::string(kDeep));
    }
    sop_example(name, node, example, std::string(kDeep), "");
  }

  Shown take() { return std::move(shown_); }

 private:
  void line(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    shown_.text += text + "\n";
  }

  [[nodiscard]] std::string label(std::string_view kind, std::string_view name) const {
    std::string text =
        settings_.colour ? "\033[36m" + std::string(kind) + ":\033[0m " : std::string(kind) + ": ";
    return text + std::string(name);
  }

  // What to call a node that stands in a list: its latest name, or its expression.
  [[nodiscard]] std::string label(graph::NodeId node) {
    if (!names_) {
      names_.emplace();
      for (const lang::Session::Named& named : display_.workspace_->session().named_nodes()) {
        if (named.name != "out") names_->emplace(named.node, named.name);
      }
    }
    const auto known = names_->find(node);
    return known != names_->end() ? known->second : graph::expression(graph_, node);
  }

  // A name or expression in front of its argument.
  [[nodiscard]] static std::string call(std::string_view callee, const Example& example) {
    const bool simple = callee.find(' ') == std::string_view::npos || callee.ends_with(')');
    return (simple ? std::string(callee) : "(" + std::string(callee) + ")") + "(" +
           describe(example) + ")";
  }

  [[nodiscard]] std::string skipped(std::span<const value::Atom> output) const {
    return settings_.full_sequences && folds(output) ? " [skipped full display: identical values]"
                                                     : "";
  }

  void sop(std::string_view name, graph::NodeId node, const std::string& start,
           const std::string& indent) {
    const std::string called = name.empty() ? label(node) : std::string(name);
    line(start + label("s-op", called));
    if (!settings_.show_sop_examples) return;
    for (const Example& example : settings_.sop_examples) {
      sop_example(called, node, example, indent + std::string(kDeep), "Example: ");
    }
  }

  void sop_example(std::string_view name, graph::NodeId node, const Example& example,
                   const std::string& indent, std::string_view title) {
    const auto values = display_.sop_values_.sequence(node, example.tokens);
    if (!values) return problem(values.error(), example);
    if (settings_.full_sequences && !folds(*values)) {
      line(indent + std::string(title));
      shown_.text +=
          format_full_sequence(example.tokens, *values, indent + "  ", settings_.max_items);
      return;
    }
    line(indent + std::string(title) + call(name, example) + " = " +
         format_sequence(*values, settings_.max_items) + skipped(*values));
  }

  void selector(std::string_view name, graph::NodeId node, const std::string& start,
                const std::string& indent) {
    line(start + label("selector", name.empty() ? label(node) : std::string(name)));
    if (!settings_.show_selector_examples) return;
    for (const Example& example : settings_.selector_examples) {
      grid("Example:", node, example, indent + std::string(kDeep));
    }
  }

  void grid(const std::string& title, graph::NodeId node, const Example& example,
            const std::string& indent) {
    const auto matrix = display_.selector_values_.matrix(node, example.tokens);
    if (!matrix) return problem(matrix.error(), example);
    line(indent + title);
    shown_.text += format_grid(example.tokens, *matrix, indent + "  ");
  }

  void problem(const Diagnostic& diagnostic, const Example& example) {
    if (shown_.problem) return;
    shown_.problem = diagnostic;
    shown_.example = describe(example);
  }

  void simple(std::string_view name, const lang::Value& value, const std::string& start,
              const std::string& indent) {
    const std::string named = label("value", name.empty() ? "" : std::string(name) + " = ") + " ";
    if (const auto* atom = std::get_if<value::Atom>(&value.data)) {
      line(start + named + format_atom(*atom));
    } else if (const auto* applied = std::get_if<lang::AppliedSequenceRef>(&value.data)) {
      line(start + named + format_sequence((*applied)->output, settings_.max_items));
    } else if (const auto* matrix = std::get_if<lang::AppliedMatrixRef>(&value.data)) {
      line(start + named);
      shown_.text += format_grid((*matrix)->input, to_matrix((*matrix)->rows),
                                 indent + std::string(kDeep) + "  ");
    }
  }

  template <typename Items>
  void container(std::string_view kind, std::string_view name, const lang::Value& value,
                 const Items& items, const char (&brackets)[2], const std::string& indent,
                 const std::string& start, std::size_t depth) {
    const std::string named = label(kind, name.empty() ? "" : std::string(name) + " = ");
    const bool lines = std::any_of(items.begin(), items.end(),
                                   [](const auto& item) { return needs_lines(element(item)); });
    if (!lines || depth == 0) {
      line(start + named + format_flat(value, graph_, settings_.max_items));
      return;
    }
    line(start + named + brackets[0]);
    std::size_t count = 0;
    for (const auto& item : items) {
      if (settings_.max_items != 0 && count++ == settings_.max_items) {
        line(indent + std::string(kDeep) + more(items.size() - settings_.max_items));
        break;
      }
      this->value("", element(item), indent + std::string(kDeep), key(item), depth - 1);
    }
    line(indent + "    " + brackets[1]);
  }

  static const lang::Value& element(const lang::Value& item) { return item; }
  static const lang::Value& element(const std::pair<value::Atom, lang::Value>& item) {
    return item.second;
  }
  static std::string key(const lang::Value&) { return ""; }
  static std::string key(const std::pair<value::Atom, lang::Value>& item) {
    return format_atom(item.first) + " : ";
  }

  Display& display_;
  const DisplaySettings& settings_;
  const graph::Graph& graph_;
  Shown shown_;
  std::optional<std::unordered_map<graph::NodeId, std::string>> names_;
};

Display::Display(const Workspace& workspace, const DisplaySettings& settings)
    : workspace_(&workspace),
      settings_(&settings),
      sop_values_(workspace.session().graph(), workspace.interpreter()),
      selector_values_(workspace.session().graph(), workspace.interpreter()) {}

Shown Display::named(std::string_view name, const lang::Value& value) {
  Writer writer(*this);
  writer.value(name, value, "", "", kMaxLineNesting);
  return writer.take();
}

Shown Display::applied(const lang::Value& value) {
  Writer writer(*this);
  writer.applied(value);
  return writer.take();
}

Shown Display::drawing(std::string_view name, const lang::Value& value, const Example& example) {
  Writer writer(*this);
  if (const auto* sop = std::get_if<lang::SOp>(&value.data)) {
    writer.drawing(name, sop->node, example);
  } else {
    return named(name, value);
  }
  return writer.take();
}

void Display::forget() {
  sop_values_ = ExampleValues(workspace_->session().graph(), workspace_->interpreter());
  selector_values_ = ExampleValues(workspace_->session().graph(), workspace_->interpreter());
}

}  // namespace rasp::cli
