#include "cli/arguments.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <sstream>

namespace rasp::cli {
namespace po = boost::program_options;
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

bool Parsed::has(std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.name == name; });
}

std::vector<std::string> Parsed::all(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return entry.values;
  }
  return {};
}

std::string Parsed::get(std::string_view name, std::string otherwise) const {
  std::vector<std::string> values = all(name);
  return values.empty() ? std::move(otherwise) : values.back();
}

struct Syntax::State {
  enum class Arity { kFlag, kOnce, kMany };
  struct Option {
    std::string name;  // "output,o": a long and a short name
    Arity arity = Arity::kFlag;
    std::string placeholder;
    std::string help;

    [[nodiscard]] std::string long_name() const { return name.substr(0, name.find(',')); }
    [[nodiscard]] std::string spelling() const {
      const std::size_t comma = name.find(',');
      std::string text = comma == std::string::npos ? "" : "-" + name.substr(comma + 1) + ", ";
      text += "--" + long_name();
      return placeholder.empty() ? text : text + " " + placeholder;
    }
  };
  std::string usage;
  std::string summary;
  std::string examples;
  std::vector<Option> options;
  std::string positional_name;
  std::size_t positional_least = 0;
  std::size_t positional_most = 0;

  [[nodiscard]] const Option* find(std::string_view spelled) const;
  [[nodiscard]] Result<std::vector<std::string>> normalise(
      const std::vector<std::string>& given) const;
  [[nodiscard]] Diagnostic needs_value(const Option& option) const {
    return error(ErrorKind::kInput, {},
                 "option '--" + option.long_name() + "' needs a value: " + option.spelling(),
                 hint());
  }
  [[nodiscard]] Diagnostic explain(const po::error& problem) const;
  [[nodiscard]] Result<void> check_counts(const Parsed& parsed) const;
  [[nodiscard]] std::string hint() const {
    const std::string name = usage.substr(0, usage.find(' '));
    return "see `rasp " + (name.starts_with('[') ? "" : name + " ") + "--help`";
  }
};

Syntax::Syntax(std::string_view usage, std::string_view summary, std::string_view examples)
    : state_(std::make_unique<State>()) {
  state_->usage = usage;
  state_->summary = summary;
  state_->examples = examples;
  flag("help,h", "show this text");
}

Syntax::~Syntax() = default;

Syntax& Syntax::flag(std::string_view name, std::string_view help) {
  state_->options.push_back({std::string(name), State::Arity::kFlag, "", std::string(help)});
  return *this;
}

Syntax& Syntax::value(std::string_view name, std::string_view placeholder, std::string_view help) {
  state_->options.push_back(
      {std::string(name), State::Arity::kOnce, std::string(placeholder), std::string(help)});
  return *this;
}

Syntax& Syntax::values(std::string_view name, std::string_view placeholder, std::string_view help) {
  state_->options.push_back(
      {std::string(name), State::Arity::kMany, std::string(placeholder), std::string(help)});
  return *this;
}

Syntax& Syntax::positional(std::string_view name, std::size_t least, std::size_t most) {
  state_->positional_name = name;
  state_->positional_least = least;
  state_->positional_most = most;
  return *this;
}

// The option that `--name`, or `-n`, spells.
const Syntax::State::Option* Syntax::State::find(std::string_view spelled) const {
  for (const Option& option : options) {
    if (spelled == "--" + option.long_name()) return &option;
    const std::size_t comma = option.name.find(',');
    if (comma != std::string::npos && spelled == "-" + option.name.substr(comma + 1)) {
      return &option;
    }
  }
  return nullptr;
}

// Spells out what Program_options would refuse: the empty value of "--input=", and arguments such
// as "-1+2" that are no options; positional arguments move behind a "--".
Result<std::vector<std::string>> Syntax::State::normalise(
    const std::vector<std::string>& given) const {
  std::vector<std::string> result;
  std::vector<std::string> free;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& argument = given[i];
    if (argument == "--") {
      free.insert(free.end(), given.begin() + static_cast<std::ptrdiff_t>(i) + 1, given.end());
      break;
    }
    const bool letter = argument.size() > 1 && (argument[1] == '-' || is_letter(argument[1]));
    if (!letter || argument[0] != '-') {
      free.push_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const Option* option = find(argument.substr(0, equals));
    if (option == nullptr || option->arity == Arity::kFlag) {
      result.push_back(argument);
      continue;
    }
    if (equals == std::string::npos && i + 1 == given.size()) return fail(needs_value(*option));
    const std::string value =
        equals == std::string::npos ? given[++i] : argument.substr(equals + 1);
    result.push_back("--" + option->long_name() + (value.empty() ? "" : "=" + value));
    if (value.empty()) result.emplace_back();
  }
  result.emplace_back("--");
  result.insert(result.end(), free.begin(), free.end());
  return result;
}

Result<void> Syntax::State::check_counts(const Parsed& parsed) const {
  for (const Option& option : options) {
    if (option.arity == Arity::kOnce && parsed.all(option.long_name()).size() > 1) {
      return fail(ErrorKind::kInput, {},
                  "option '--" + option.long_name() + "' was given more than once", hint());
    }
  }
  const std::vector<std::string> positional = parsed.all(positional_name);
  if (positional.size() < positional_least) {
    return fail(ErrorKind::kInput, {}, "expected " + positional_name + ", but none was given",
                hint());
  }
  if (positional.size() > positional_most) {
    return fail(ErrorKind::kInput, {}, "unexpected argument '" + positional[positional_most] + "'",
                hint());
  }
  return {};
}

Diagnostic Syntax::State::explain(const po::error& problem) const {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&problem)) {
    const std::string name = unknown->get_option_name();
    const std::string given = name.substr(0, name.find('='));
    std::vector<std::string> names;
    for (const Option& option : options) names.push_back("--" + option.long_name());
    std::string meant = closest(given, names);
    for (const std::string& full : names) {
      if (meant.empty() && given.size() > 3 && full.starts_with(given)) meant = full;
    }
    return error(ErrorKind::kInput, {}, "unknown option '" + name + "'",
                 meant.empty() ? hint() : "did you mean '" + meant + "'?");
  }
  if (const auto* named = dynamic_cast<const po::error_with_option_name*>(&problem)) {
    return error(ErrorKind::kInput, {}, "option '" + named->get_option_name() + "' takes no value",
                 hint());
  }
  return error(ErrorKind::kInput, {}, problem.what(), hint());
}

Result<Parsed> Syntax::parse(const std::vector<std::string>& arguments) const {
  po::options_description description;
  for (const State::Option& option : state_->options) {
    if (option.arity == State::Arity::kFlag) {
      description.add_options()(option.name.c_str(), "");
    } else {
      description.add_options()(option.name.c_str(), po::value<std::vector<std::string>>(), "");
    }
  }
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  RASP_TRY(const std::vector<std::string> normal, state_->normalise(arguments));
  Parsed parsed;
  try {
    const po::parsed_options found =
        po::command_line_parser(normal).options(description).style(style).run();
    for (const po::option& option : found.options) {
      const std::string& name =
          option.position_key >= 0 ? state_->positional_name : option.string_key;
      auto entry = std::find_if(parsed.entries_.begin(), parsed.entries_.end(),
                                [&](const Parsed::Entry& known) { return known.name == name; });
      if (entry == parsed.entries_.end()) {
        entry = parsed.entries_.insert(entry, Parsed::Entry{name, {}});
      }
      entry->values.insert(entry->values.end(), option.value.begin(), option.value.end());
    }
  } catch (const po::error& problem) {
    return fail(state_->explain(problem));
  }
  if (!parsed.has("help")) RASP_CHECK_OK(state_->check_counts(parsed));
  return parsed;
}

std::string Syntax::help() const {
  std::string text = "Usage: rasp " + state_->usage + "\n\n" + state_->summary + "\n\nOptions:\n";
  std::size_t width = 0;
  for (const State::Option& option : state_->options) {
    width = std::max(width, option.spelling().size());
  }
  // --help, which every command has, comes last.
  std::vector<State::Option> options(state_->options.begin() + 1, state_->options.end());
  options.push_back(state_->options.front());
  for (const State::Option& option : options) {
    std::string line = "  " + option.spelling();
    line.resize(width + 4, ' ');
    std::istringstream words(option.help);
    for (std::string help_line; std::getline(words, help_line);) {
      text += line + help_line + "\n";
      line.assign(width + 4, ' ');
    }
  }
  text += "\nExamples:\n";
  std::istringstream examples(state_->examples);
  for (std::string line; std::getline(examples, line);) text += "  " + line + "\n";
  return text;
}

Result<std::uint32_t> parse_count(std::string_view option, std::string_view text,
                                  std::uint32_t least, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    return fail(ErrorKind::kInput, {},
                "option '" + std::string(option) + "' expects a whole number from " +
                    std::to_string(least) + " to " + std::to_string(most) + ", got '" +
                    std::string(text) + "'");
  }
  return value;
}

}  // namespace rasp::cli
