#include "cli/commands.h"

#include <algorithm>

#include "base/utf8.h"
#include "cli/compiling.h"
#include "cli/format.h"
#include "cli/help.h"
#include "lang/function.h"

namespace rasp::cli {
namespace {

constexpr std::string_view kColonCommands[] = {":type",  ":depth", ":compile", ":source",
                                               ":reset", ":help",  ":quit"};

bool is_separator(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '(' || c == ')' || c == ',' ||
         c == ';';
}

std::string type_text(const lang::Value& value, const graph::Graph& graph) {
  if (const auto* atom = std::get_if<value::Atom>(&value.data)) {
    return std::string(value::name_of(value::type_of(*atom)));
  }
  if (const auto* sop = std::get_if<lang::SOp>(&value.data)) {
    return "s-op of " + value::describe(graph[sop->node].types);
  }
  if (const auto* list = std::get_if<lang::List>(&value.data)) {
    return "list of length " + std::to_string(list->items->size());
  }
  if (const auto* dict = std::get_if<lang::Dict>(&value.data)) {
    return "dict of length " + std::to_string(dict->items->size());
  }
  if (const auto* function = std::get_if<lang::FunctionRef>(&value.data)) {
    const std::size_t count = (*function)->parameters.size();
    return "function of " + std::to_string(count) + (count == 1 ? " argument" : " arguments");
  }
  if (const auto* applied = std::get_if<lang::AppliedSequenceRef>(&value.data)) {
    return "list of length " + std::to_string((*applied)->output.size());
  }
  return std::holds_alternative<lang::Selector>(value.data) ? "selector" : "applied selector";
}

// The lines of comment that stand right above a definition, each ended by a line break.
std::string comment_above(const Span& span, const SourceMap& sources) {
  std::string text;
  for (std::size_t line = sources.place(span.file, span.begin).line; line > 1; --line) {
    const std::string_view above = sources.line(span.file, line - 1);
    if (!above.starts_with('#')) break;
    const std::size_t start = above.find_first_not_of("# ");
    text = printable(start == std::string_view::npos ? "" : above.substr(start)) + "\n" + text;
  }
  return text;
}

}  // namespace

// The words of a command, one after the other; blanks, parentheses and commas separate them.
struct Commands::Words {
  std::string_view text;
  std::size_t at = 0;
  std::size_t end = 0;

  std::string_view next() {
    while (at < end && is_separator(text[at])) ++at;
    const std::size_t start = at;
    while (at < end && !is_separator(text[at])) ++at;
    return text.substr(start, at - start);
  }
  [[nodiscard]] std::string_view peek() const { return Words(*this).next(); }
  // What is left, as written.
  std::string_view rest() {
    while (at < end && (text[at] == ' ' || text[at] == '\t')) ++at;
    std::size_t last = end;
    while (last > at && (is_separator(text[last - 1]) && text[last - 1] != ')')) --last;
    return text.substr(at, last - at);
  }
  Span rest_span(FileId file) {
    const std::size_t size = rest().size();
    return {file, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + size)};
  }
};

const std::vector<std::string>& Commands::words() {
  static const std::vector<std::string> kWords = {
      "set example ", "show example", "examples ", "full seq display ", "exit",      "quit",
      "help ",        "selector ",    ":type ",    ":depth ",           ":compile ", ":source ",
      ":reset"};
  return kWords;
}

void Commands::say(const std::string& text) { repl_->output_->write(text); }

void Commands::problem(const std::string& message, const std::string& hint) {
  repl_->report(error(ErrorKind::kInput, command_, message, hint));
}

void Commands::obey() {
  Words words{repl_->workspace_.sources().text(command_.file), command_.begin, command_.end};
  const std::string_view first = words.peek();
  if (first == "exit" || first == "quit" || first == ":quit") {
    repl_->leaving_ = true;
  } else if (first == "help" || first == ":help") {
    words.next();
    help(words.next());
  } else if (first.starts_with(':')) {
    std::string_view name = words.next();
    // The parser allows blanks behind the colon.
    const std::string spaced = ":" + std::string(name == ":" ? words.next() : "");
    colon_command(name == ":" ? std::string_view(spaced) : name, words);
  } else if (!example_command(words)) {
    problem("unknown command '" + std::string(first) + "'", "`help commands` lists them");
  }
}

// set ..., show ..., examples ..., full seq display ...
bool Commands::example_command(Words& words) {
  std::string_view verb = words.peek();
  const bool has_verb = verb == "set" || verb == "show" || verb == "full";
  if (has_verb) words.next();
  Subset subset;
  const std::string_view kind = words.peek();
  if (kind == "selector" || kind == "s-op" || kind == "sop") {
    words.next();
    subset = {kind != "selector", kind == "selector"};
  }
  const std::string_view noun = words.next();
  if (verb == "set" && noun == "example") {
    set_example(subset, words);
  } else if (verb == "show" && noun == "example") {
    show_example(subset);
  } else if (verb == "full" && noun == "seq") {
    words.next();
    repl_->settings_.full_sequences = words.next() == "on";
  } else if (!has_verb && noun == "examples") {
    const bool on = words.next() == "on";
    if (subset.sop) repl_->settings_.show_sop_examples = on;
    if (subset.selector) repl_->settings_.show_selector_examples = on;
  } else {
    return false;
  }
  return true;
}

void Commands::set_example(const Subset& subset, Words& words) {
  const Span place = words.rest_span(command_.file);
  const auto value = repl_->evaluate(place);
  if (!value) return;
  const auto tokens = lang::to_input(*value, place);
  if (!tokens) return repl_->report(tokens.error());
  const bool text = std::holds_alternative<value::Atom>(value->data);
  if (subset.sop) repl_->settings_.sop_examples = {Example{*tokens, text}};
  if (subset.selector) repl_->settings_.selector_examples = {Example{*tokens, text}};
}

void Commands::show_example(const Subset& subset) {
  if (subset.sop) {
    say("        s-op example: " + describe(repl_->settings_.sop_examples.front()) + "\n");
  }
  if (subset.selector) {
    say("        selector example: " + describe(repl_->settings_.selector_examples.front()) + "\n");
  }
}

void Commands::colon_command(std::string_view name, Words& words) {
  if (name == ":reset") {
    repl_->workspace_.session().reset();
    repl_->display_.forget();
    return say("    forgotten: every definition\n");
  }
  const std::string_view argument = words.rest();
  if (name == ":source") return show_source(argument);
  const bool known = name == ":type" || name == ":depth" || name == ":compile";
  if (!known) {
    const std::string meant = closest(name, {std::begin(kColonCommands), std::end(kColonCommands)});
    return problem("unknown command '" + std::string(name) + "'",
                   meant.empty() ? "`help commands` lists them" : "did you mean '" + meant + "'?");
  }
  if (argument.empty()) {
    return problem("'" + std::string(name) + "' needs an expression",
                   "for example: " + std::string(name) + " length + 1");
  }
  const auto value = repl_->evaluate(words.rest_span(command_.file));
  if (!value) return;
  if (name == ":type") return show_type(*value);
  if (name == ":depth") return show_depth(*value, argument);
  compile(*value, argument);
}

void Commands::show_type(const lang::Value& value) {
  say("    type: " + type_text(value, repl_->workspace_.session().graph()) + "\n");
}

void Commands::show_depth(const lang::Value& value, std::string_view source) {
  const auto* sop = std::get_if<lang::SOp>(&value.data);
  if (sop == nullptr) {
    return problem("':depth' needs an s-op, got " + lang::describe(value));
  }
  const graph::Depth depth = graph::depth(repl_->workspace_.session().graph(), sop->node);
  std::string text = "    depth: " + printable(source) + " takes " + std::to_string(depth.layers) +
                     (depth.layers == 1 ? " layer" : " layers");
  for (std::size_t i = 0; i < depth.heads.size(); ++i) {
    text += (i == 0 ? ", heads by layer: " : ", ") + std::to_string(depth.heads[i]);
  }
  say(text + "\n");
}

void Commands::compile(const lang::Value& value, std::string_view source) {
  const auto* sop = std::get_if<lang::SOp>(&value.data);
  if (sop == nullptr) {
    return problem("':compile' needs an s-op, got " + lang::describe(value));
  }
  const Example& example = repl_->settings_.sop_examples.front();
  compiler::Options options;
  options.vocabulary = vocabulary_of(example.tokens);
  options.max_length = static_cast<std::uint32_t>(example.tokens.size());
  options.causal = repl_->options_.causal;
  options.halt.interrupted = repl_->interrupted_;
  const auto compiled = compile_sop(repl_->workspace_, sop->node, std::string(source), options);
  if (!compiled) return repl_->report(compiled.error());
  say("    for the tokens " + format_sequence(options.vocabulary, 20) + " up to length " +
      std::to_string(options.max_length) + ":\n" +
      model_table(compiled->compiled.model, compiled->seconds, "    "));
}

void Commands::show_source(std::string_view name) {
  lang::Session& session = repl_->workspace_.session();
  const auto span = session.definition(name);
  if (!span || !span->valid()) {
    const std::string meant = closest(name, session.names());
    if (session.lookup(name)) return say("    " + std::string(name) + " is built in\n");
    return problem("no definition of '" + printable(name) + "'",
                   meant.empty() ? "" : "did you mean '" + meant + "'?");
  }
  const std::string_view text = repl_->workspace_.sources().text(*span);
  say("    " + repl_->describe(*span) + "\n" + std::string(text) + "\n");
}

void Commands::help(std::string_view topic) {
  const auto topics = help_topics();
  const bool is_topic =
      topic.empty() || std::find(topics.begin(), topics.end(), topic) != topics.end();
  lang::Session& session = repl_->workspace_.session();
  const auto value = is_topic ? std::nullopt : session.lookup(topic);
  const auto span = session.definition(topic);
  if (value && span && span->valid()) {
    say(comment_above(*span, repl_->workspace_.sources()) +
        repl_->display_.named(topic, *value).text);
    return say("`:source " + std::string(topic) + "` shows how it is written\n");
  }
  const std::string_view text = help_text(topic);
  if (!text.empty()) return say(std::string(text));
  const std::string meant = closest(topic, topics);
  problem("no help on '" + printable(topic) + "'",
          meant.empty() ? "`help` lists the topics" : "did you mean '" + meant + "'?");
}

}  // namespace rasp::cli
