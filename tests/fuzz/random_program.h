// Random RASP expressions as trees, so that a failing one can be cut down: the mix of constructs
// that people write, a function of the seed alone.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "value/atom.h"

namespace rasp::test {

// "aggregate(@, @, 0)" with its arguments in the order of the @. The type is n(umber), b(ool),
// t(ext) or s(elector).
struct Expr {
  char type = 'n';
  std::string form;
  std::vector<Expr> args;
};

inline std::string text_of(const Expr& expr) {
  std::string text;
  std::size_t next = 0;
  for (const char c : expr.form) {
    if (c == '@') {
      text += text_of(expr.args[next++]);
    } else {
      text += c;
    }
  }
  return text;
}

inline std::size_t size_of(const Expr& expr) {
  std::size_t size = 1;
  for (const Expr& arg : expr.args) size += size_of(arg);
  return size;
}

// The vocabulary and what its tokens can be read as.
struct Tongue {
  std::string name;
  std::vector<value::Atom> vocabulary;
  bool numbers = false;  // tokens_int, tokens_float
  bool texts = true;     // strings of the program's own to compare with
};

inline std::vector<Tongue> tongues() {
  using value::make_int;
  using value::Number;
  const auto text = [](const char* s) { return value::Atom(std::string(s)); };
  const auto fraction = [](std::int64_t p, std::int64_t q) {
    return value::Atom(Number::rational(p, q));
  };
  return {
      {"letters", {text("a"), text("b"), text("c"), text("d")}, false},
      {"digits", {text("0"), text("1"), text("2"), text("3"), text("4")}, true},
      {"ints", {make_int(0), make_int(1), make_int(2), make_int(3)}, true},
      {"negative", {make_int(-5), make_int(-1), make_int(0), make_int(2), make_int(7)}, true},
      {"fractions", {fraction(-5, 4), fraction(0, 1), fraction(1, 2), fraction(3, 1)}, true},
      {"mixed", {make_int(1), fraction(1, 1), text("1"), text("b"), fraction(5, 2)}, false},
      {"bools", {value::Atom(true), value::Atom(false)}, true},
      {"one letter", {text("a")}, false},
      {"one number", {make_int(3)}, true},
      {"words", {text(""), text("ab"), text("a"), text("b")}, false},
  };
}

class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, const Tongue& tongue) : random_(seed), tongue_(tongue) {}

  Expr any(int depth) {
    switch (pick(6)) {
      case 0:
        return text(depth);
      case 1:
        return boolean(depth);
      case 2:
        return selector(depth);
      default:
        return number(depth);
    }
  }

  Expr number(int depth) { return kept('n', depth); }
  Expr boolean(int depth) { return kept('b', depth); }
  Expr text(int depth) { return kept('t', depth); }
  Expr selector(int depth) { return kept('s', depth); }

  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }
  std::mt19937_64& random() { return random_; }

  // The simplest expressions of a type.
  static std::vector<Expr> simplest(char type) {
    switch (type) {
      case 'n':
        return {{'n', "indices", {}}, {'n', "1", {}}};
      case 'b':
        return {{'b', "(indices > 1)", {}}};
      case 't':
        return {{'t', "tokens_str", {}}};
      default:
        return {{'s', "full_s", {}}, {'s', "select(indices, indices, ==)", {}}};
    }
  }

 private:
  // An earlier expression again, now and then: shared parts.
  Expr kept(char type, int depth) {
    std::vector<Expr>& pool = pools_[static_cast<unsigned char>(type) % 8];
    if (depth > 0 && !pool.empty() && chance(0.12)) return pool[pick(pool.size())];
    Expr expr = depth <= 0    ? leaf(type)
                : type == 'n' ? number_node(depth - 1)
                : type == 'b' ? boolean_node(depth - 1)
                : type == 't' ? text_node(depth - 1)
                              : selector_node(depth - 1);
    if (size_of(expr) < 25) pool.push_back(expr);
    return expr;
  }

  Expr leaf(char type) {
    switch (type) {
      case 'n':
        return number_leaf();
      case 'b':
        return comparison(number_leaf(), number_leaf());
      case 't':
        return text_leaf();
      default:
        return selector_leaf();
    }
  }

  Expr number_leaf() {
    switch (pick(tongue_.numbers ? 6 : 4)) {
      case 0:
        return {'n', "indices", {}};
      case 1:
        return {'n', "length", {}};
      case 2:
        return {'n', constant(), {}};
      case 3:
        return {'n', chance(0.3) ? "(indices + 1)" : "indices", {}};
      default:
        return {'n', chance(0.75) ? "tokens_int" : "tokens_float", {}};
    }
  }

  std::string constant() {
    if (chance(0.2)) {
      static const std::vector<std::string> kFractions{"0.5", "(-1.5)", "0.25", "0.1", "2.0"};
      return kFractions[pick(kFractions.size())];
    }
    const auto value = static_cast<int>(pick(8)) - 3;
    return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
  }

  std::string quoted() {
    std::vector<std::string> texts{"x"};
    for (const value::Atom& token : tongue_.vocabulary) texts.push_back(value::to_text(token));
    return '"' + texts[pick(texts.size())] + '"';
  }

  Expr text_leaf() {
    if (chance(0.25)) return {'t', quoted(), {}};
    return {'t', "tokens_str", {}};
  }

  std::string comparison_sign() {
    static const std::vector<std::string> kSigns{"==", "!=", "<", ">", "<=", ">="};
    return kSigns[pick(kSigns.size())];
  }

  Expr comparison(Expr a, Expr b) {
    return {'b', "(@ " + comparison_sign() + " @)", {std::move(a), std::move(b)}};
  }

  std::string default_number() {
    return chance(0.5) ? "" : ", " + std::to_string(static_cast<int>(pick(6)) - 2);
  }

  Expr number_node(int d) {
    switch (pick(24)) {
      case 0:
      case 1:
        return {'n', "(@ + @)", {number(d), number(d)}};
      case 2:
        return {'n', "(@ - @)", {number(d), number(d)}};
      case 3:
        return {'n', "(@ * @)", {number(d), number(d)}};
      case 4:
        return {'n', chance(0.5) ? "(@ / @)" : "(@ % @)", {number(d), number(d)}};
      case 5:
        return {'n', "(@ / " + std::to_string(pick(4) + 1) + ")", {number(d)}};
      case 6:
        return {'n', "(@ % " + std::to_string(pick(4) + 1) + ")", {number(d)}};
      case 7:
        return {'n', "(@ if @ else @)", {number(d), boolean(d), number(d)}};
      case 8:
        return {'n', "round(@)", {number(d)}};
      case 9:
        return {'n', "indicator(@)", {boolean(d)}};
      case 10:
      case 11:
        return {'n', "selector_width(@)", {selector(d)}};
      case 12:
        return {'n', "round(length * aggregate(full_s, @))", {number(d)}};
      case 13:
        return {
            'n', "round((indices + 1) * aggregate(select(indices, indices, <=), @))", {number(d)}};
      case 14:
        return {'n',
                "shift(@, " + std::to_string(static_cast<int>(pick(5)) - 2) + ", " +
                    std::to_string(static_cast<int>(pick(4)) - 1) + ")",
                {number(d)}};
      case 15:
        return chance(0.5) ? Expr{'n', "[2, -1, 0, 5][@ % 4]", {number(d)}}
                           : Expr{'n', "{0: 3, 1: 1, 2: -2, 3: 0.5}[@]", {number(d)}};
      case 16:
        return {'n', chance(0.5) ? "max(@, @)" : "min(@, @)", {number(d), number(d)}};
      case 17:
        return {'n', chance(0.5) ? "count(@, " + quoted() + ")" : "sort(indices, @)", {text(d)}};
      case 18:
        return {'n', chance(0.5) ? "(-@)" : "(@ ^ 2)", {number(d)}};
      case 19:
        return {'n', "@[" + std::to_string(static_cast<int>(pick(4)) - 2) + "]", {number(0)}};
      default:
        return {'n', "aggregate(@, @" + default_number() + ")", {selector(d), number(d)}};
    }
  }

  Expr boolean_node(int d) {
    switch (pick(10)) {
      case 0:
      case 1:
        return comparison(number(d), number(d));
      case 2:
        return comparison(text(d), text(d));
      case 3:
        return {'b', "(@ and @)", {boolean(d), boolean(d)}};
      case 4:
        return {'b', "(@ or @)", {boolean(d), boolean(d)}};
      case 5:
        return {'b', "(not @)", {boolean(d)}};
      case 6:
        return {'b', "has_focus(@)", {selector(d)}};
      case 7:
        return {'b',
                chance(0.5) ? "(@ in [0, 2, 3])" : "(@ in [" + quoted() + "])",
                {chance(0.5) ? number(d) : text(d)}};
      case 8:
        return {'b', chance(0.5) ? "contains(@, " + quoted() + ")" : "(@ == @[-1])",
                repeated(text(d), d)};
      default:
        return {'b',
                "aggregate(@, @, " + std::string(chance(0.5) ? "True" : "False") + ")",
                {one_key(d), boolean(d)}};
    }
  }

  // Twice the same, for forms with one or two places.
  static std::vector<Expr> repeated(Expr expr, int) { return {expr, expr}; }

  Expr text_node(int d) {
    switch (pick(6)) {
      case 0:
        return {'t', "(@ + @)", {text(d), text(d)}};
      case 1:
        return {'t', "(@ if @ else @)", {text(d), boolean(d), text(d)}};
      case 2:
        return {'t',
                "shift(@, " + std::to_string(static_cast<int>(pick(5)) - 2) + ", \"-\")",
                {text(d)}};
      case 3:
        return {'t', "\"xyz\"[@ % 3]", {number(d)}};
      case 4:
        return {'t', "sort(@, @)", {text(d), chance(0.5) ? number(d) : text(d)}};
      default:
        return {'t', "aggregate(@, @, \"x\")", {one_key(d), text(d)}};
    }
  }

  // A selector with at most one key a query, mostly.
  Expr one_key(int d) {
    switch (pick(4)) {
      case 0:
        return {'s', "select(indices, @, ==)", {number(d)}};
      case 1:
        return {'s', "select(indices, length - 1 - indices, ==)", {}};
      case 2:
        return {'s', "(@ and select(indices, @, ==))", {selector(d), number(d)}};
      default:
        return {'s', "select(indices, indices - 1, ==)", {}};
    }
  }

  Expr selector_leaf() {
    switch (pick(4)) {
      case 0:
        return {'s', "select(indices, indices, " + comparison_sign() + ")", {}};
      case 1:
        return {'s', "select(tokens_str, tokens_str, " + comparison_sign() + ")", {}};
      case 2:
        return {'s', "full_s", {}};
      default:
        return {'s', "select(@, @, " + comparison_sign() + ")", {number_leaf(), number_leaf()}};
    }
  }

  Expr selector_node(int d) {
    switch (pick(11)) {
      case 0:
      case 1:
        return {'s', "(@ and @)", {selector(d), selector(d)}};
      case 2:
        return {'s', "(@ or @)", {selector(d), selector(d)}};
      case 3:
        return {'s', "(not @)", {selector(d)}};
      case 4:
        return {'s', "select(@, @, " + comparison_sign() + ")", {text(d), text(d)}};
      case 5:
        return {'s',
                "select(@, " + std::string(chance(0.5) ? "True" : "False") + ", ==)",
                {boolean(d)}};
      case 6:
        return {'s', "select(@, @, ==)", {boolean(d), boolean(d)}};
      default:
        return {'s', "select(@, @, " + comparison_sign() + ")", {number(d), number(d)}};
    }
  }

  std::mt19937_64 random_;
  const Tongue& tongue_;
  std::vector<Expr> pools_[8];
};

}  // namespace rasp::test
