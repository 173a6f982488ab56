// Random programs, as text, and an independent reading of random flat expressions: recursive
// descent after the tables of precedence, where the room itself uses one stack of operators.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace rasp::syntax::testing {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}

  [[nodiscard]] std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(engine_);
  }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }
  template <typename Container>
  [[nodiscard]] const auto& pick(const Container& container) {
    return container[below(std::size(container))];
  }

 private:
  std::mt19937 engine_;
};

// ---- Programs

class RandomText {
 public:
  explicit RandomText(unsigned seed) : dice_(seed) {}

  std::string program(std::size_t statements) {
    std::string out;
    for (std::size_t i = 0; i < statements; ++i) out += statement(3, false) + gap();
    return out;
  }

  std::string expression(std::size_t depth) {
    std::string out = operand(depth);
    while (dice_.one_in(2)) {
      if (dice_.one_in(8)) {
        out += " if " + expression(depth == 0 ? 0 : depth - 1) + " else " + operand(depth);
      } else {
        static const std::vector<std::string> ops = {"^",  "*",  "/",     "%",    "+",
                                                     "-",  "==", "!=",    "<",    ">",
                                                     "<=", ">=", " and ", " or ", " in "};
        out += gap() + dice_.pick(ops) + gap() + operand(depth);
      }
    }
    return out;
  }

 private:
  std::string gap() {
    static const std::vector<std::string> gaps = {"", " ", "  ", "\n", " # note; ) \" {\n", "\t"};
    return dice_.one_in(3) ? dice_.pick(gaps) : " ";
  }

  std::string name() {
    static const std::vector<std::string> names = {
        "x",    "tokens", "indices", "length", "load", "draw",  "expect", "puzzle",
        "spec", "limit",  "hint",    "vocab",  "to",   "show",  "set",    "help",
        "_a1",  "round",  "False",   "full",   "s",    "heads", "layers"};
    return dice_.pick(names);
  }

  std::string literal() {
    static const std::vector<std::string> literals = {
        "0",     "12",      "007", "1.50",    "\"\"",
        "\"a\"", "\"§ é\"", "3.0", "\"#;{\"", "18446744073709551616"};
    return dice_.pick(literals);
  }

  std::string operand(std::size_t depth) {
    std::string out;
    static const std::vector<std::string> prefixes = {"not ", "-", "+ "};
    while (dice_.one_in(6)) out += dice_.pick(prefixes);
    out += primary(depth);
    while (depth > 0 && dice_.one_in(6)) {
      out += dice_.one_in(2) ? "[" + expression(depth - 1) + "]"
                             : "(" + list(depth - 1, dice_.below(3)) + ")";
    }
    return out;
  }

  std::string list(std::size_t depth, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += (i > 0 ? "," + gap() : "") + expression(depth);
    return out;
  }

  std::string primary(std::size_t depth) {
    if (depth == 0 || dice_.one_in(3)) return dice_.one_in(3) ? literal() : name();
    const std::size_t inner = depth - 1;
    static const std::vector<std::string> comparisons = {"==", "!=", "<", ">", "<=", ">="};
    switch (dice_.below(8)) {
      case 0:
        return "select" + gap() + "(" + list(inner, 2) + ", " + dice_.pick(comparisons) + ")";
      case 1:
        return "aggregate(" + list(inner, 2 + dice_.below(2)) + ")";
      case 2:
        return "[" + list(inner, dice_.below(4)) + "]";
      case 3:
        return "[" + expression(inner) + " for " + name() + (dice_.one_in(2) ? ", y" : "") +
               " in " + expression(inner) + "]";
      case 4:
        return "{" + (dice_.one_in(3) ? "" : expression(inner) + ":" + expression(inner)) + "}";
      case 5:
        return "{" + expression(inner) + ": " + expression(inner) + " for k in " +
               expression(inner) + "}";
      default:
        return "(" + gap() + expression(inner) + gap() + ")";
    }
  }

  std::string body(std::size_t depth) {
    std::string out;
    for (std::size_t i = dice_.below(3); i > 0; --i) out += statement(depth, true) + gap();
    return out;
  }

  std::string statement(std::size_t depth, bool inside) {
    switch (dice_.below(depth > 0 ? 9 : 5)) {
      case 0:
        return "x, y_ = " + list(2, 1 + dice_.below(2)) + ";";
      case 1:
        return "load \"some/path\";";
      case 2:
        return "draw(" + list(1, 1 + dice_.below(2)) + ");";
      case 3:
        return name() + " = " + expression(2) + ";";
      case 4:  // a first operand that no statement word can hide in
        return "(" + expression(2) + ");";
      case 5:
        return "def f(" + std::string(dice_.one_in(2) ? "a, b" : "") + ") {" + gap() +
               body(depth - 1) + "return " + list(2, 1 + dice_.below(2)) + "; }";
      case 6:
        return "for i in " + expression(1) + " { " + body(depth - 1) + " }";
      case 7:
        return "expect (" + expression(2) + ") == [" + list(1, 2) + "];";
      default:
        return inside ? "t = 1;" : puzzle();
    }
  }

  std::string puzzle() {
    return "puzzle p(" + std::string(dice_.one_in(2) ? "i, j" : "") +
           ") {\n \"Do it.\"\n vocab \"ab\"; length 1 to 4;\n expect p(" + list(1, 1) +
           ") == \"b\";\n spec p == " + name() + ";\n limit layers 2; limit heads 1; hint \"h\"; }";
  }

  Dice dice_;
};

// ---- Flat expressions

// Words of a flat expression: operands, prefix and infix operators, and "if C" / "else" as two
// words around an opaque condition.
using Words = std::vector<std::string>;

// `python_only`: `not` stands only where Python allows it.
inline Words random_flat(Dice& dice, std::size_t operands, bool python_only) {
  static const Words ops = {
      "^", "*", "/", "%", "+", "-", "==", "!=", "<", ">", "<=", ">=", "and", "or", "in", "if"};
  Words words;
  std::string before = "and";
  for (std::size_t i = 0; i < operands; ++i) {
    if (i > 0) {
      before = dice.pick(ops);
      if (before == "if") {
        words.insert(words.end(), {"if", "c" + std::to_string(i), "else"});
      } else {
        words.push_back(before);
      }
    }
    const bool low = before == "and" || before == "or" || before == "if";
    while (dice.one_in(5) && (low || !python_only)) words.push_back("not");
    while (dice.one_in(6)) words.push_back(dice.one_in(2) ? "-" : "+");
    words.push_back(std::string(1, static_cast<char>('a' + static_cast<char>(i % 26))));
  }
  return words;
}

// Reads words by recursive descent and writes them with all parentheses.
class Oracle {
 public:
  // RASP, language.md section 3: levels of left-associative operators, loosest first.
  static std::string rasp(const Words& words) {
    Oracle oracle(words);
    return oracle.rasp_level(0);
  }
  // The Python Language Reference, with ^ for ** and a comparison chain as one node.
  static std::string python(const Words& words) {
    Oracle oracle(words);
    return oracle.python_choice();
  }

 private:
  explicit Oracle(const Words& words) : words_(words) {}

  [[nodiscard]] bool sees(const Words& any) const {
    if (at_ >= words_.size()) return false;
    for (const std::string& word : any) {
      if (words_[at_] == word) return true;
    }
    return false;
  }
  std::string take() { return words_[at_++]; }
  std::string take_condition() {  // and its "else"
    const std::string condition = take();
    return " " + condition + " " + take();
  }

  std::string rasp_level(std::size_t level) {
    static const std::vector<Words> levels = {
        {"in"},     {"if"}, {"and", "or"}, {"==", "!=", "<", ">", "<=", ">="},
        {"+", "-"}, {"%"},  {"*", "/"},    {"^"}};
    if (level == levels.size()) return rasp_prefix();
    std::string left = rasp_level(level + 1);
    while (sees(levels[level])) {
      std::string op = take();
      if (op == "if") op += take_condition();
      std::string right = rasp_level(level + 1);
      left = "(" + left + " " + op + " " + right + ")";
    }
    return left;
  }

  std::string rasp_prefix() {
    if (!sees({"not", "-", "+"})) return take();
    const std::string op = take();
    return "(" + op + " " + rasp_prefix() + ")";
  }

  std::string left_associative(const Words& ops, std::string (Oracle::*tighter)()) {
    std::string left = (this->*tighter)();
    while (sees(ops)) {
      const std::string op = take();
      left = "(" + left + " " + op + " " + (this->*tighter)() + ")";
    }
    return left;
  }

  std::string python_choice() {
    std::string yes = python_or();
    if (!sees({"if"})) return yes;
    std::string op = take();
    op += take_condition();
    return "(" + yes + " " + op + " " + python_choice() + ")";
  }
  std::string python_or() { return left_associative({"or"}, &Oracle::python_and); }
  std::string python_and() { return left_associative({"and"}, &Oracle::python_not); }
  std::string python_not() {
    if (!sees({"not"})) return python_comparison();
    take();
    return "(not " + python_not() + ")";
  }
  std::string python_comparison() {
    std::string out = python_sum();
    bool chained = false;
    while (sees({"==", "!=", "<", ">", "<=", ">=", "in"})) {
      chained = true;
      const std::string op = take();
      out += " " + op + " " + python_sum();
    }
    return chained ? "(" + out + ")" : out;
  }
  std::string python_sum() { return left_associative({"+", "-"}, &Oracle::python_product); }
  std::string python_product() { return left_associative({"*", "/", "%"}, &Oracle::python_sign); }
  std::string python_sign() {
    if (!sees({"-", "+"})) return python_power();
    const std::string op = take();
    return "(" + op + " " + python_sign() + ")";
  }
  std::string python_power() {
    std::string base = take();
    if (!sees({"^"})) return base;
    take();
    return "(" + base + " ^ " + python_sign() + ")";
  }

  Words words_;
  std::size_t at_ = 0;
};

inline std::string joined(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace rasp::syntax::testing
