#include "cli/help.h"

#include <algorithm>

namespace rasp::cli {
namespace {

struct Topic {
  std::string_view name;
  std::string_view aliases;  // separated by blanks, with one at each end
  std::string_view text;
};

constexpr std::string_view kOverview =
    R"(RASP programs compute sequences with select and aggregate, as attention does.

  tokens  indices  length        s-ops: one value at each position of an input
  tokens + 1                     arithmetic, comparison, if/else: position by position
  s = select(keys, queries, ==)  a selector: which key each query attends to
  aggregate(s, values, default)  the mean of what each query selects
  reverse("abc");                an s-op applied to an input

Topics: help aggregate, commands, def, expect, for, library, lists, load, numbers, operators,
        puzzle, select, sops, statements, undefined
The running example is "hello"; `set example "abc"` changes it. `exit` leaves.
)";

constexpr Topic kTopics[] = {
    {"commands", " command : ",
     R"(set [s-op|selector] example E    evaluate what is shown on E, a string or a list
show [s-op|selector] example     show the running examples
[s-op|selector] examples on|off  show examples, or only names
full seq display on|off          show input and output in columns
:type E      the type of an expression
:depth S     layers and heads that an s-op needs
:compile S   compile an s-op for the tokens and the length of the running example
:source N    where and how N is defined
:reset       forget every definition
help TOPIC   about the language
exit, quit   leave (as Ctrl-D does)
)"},
    {"select", " selector selectors ",
     R"(select(keys, queries, op) selects, for the query at each row, the keys at the columns
where `key op query` holds; op is one of == != < > <= >=.
  select(indices, indices, <)    each position attends to those before it
  select(tokens, "a", ==)        every position attends to each "a"
Selectors combine with and, or, not. full_s selects everything.
)"},
    {"aggregate", " mean average default ",
     R"(aggregate(selector, values, default): at each position, the one selected value, of any type;
the mean where several are selected (numbers only); the default, or 0, where none is.
  aggregate(select(indices, length - indices - 1, ==), tokens)    reverse
selector_width(s) counts what each position selects.
)"},
    {"sops",
     " s-op s-ops sop tokens indices length tokens_int tokens_str tokens_float tokens_bool "
     "tokens_asis ",
     R"(An s-op turns an input of n tokens into n values. tokens is the input, as strings;
tokens_int, tokens_float, tokens_bool and tokens_asis read it otherwise; indices counts from 0;
length is n everywhere. Operators and if/else work position by position; a number or string
stands for the s-op that is the same everywhere. s[i] reads position i; d[s] looks up in a list,
string or dict; s("abc") applies s to an input; `s in [1, 2]` tests each position.
)"},
    {"operators", " operator precedence == != < > <= >= and or not in if else ^ * / % + - ",
     R"(Tightest first:
  x[i]  f(x)  s("input")
  not e  -e  +e           tighter than all below: -2^2 is 4
  ^                       from the left: 2^3^2 is 64
  *  /
  %                       below *: 7%3*2 is 7%(3*2)
  +  -
  == != < > <= >=
  and  or                 one level, from the left
  a if c else b
  x in y                  loosest
)"},
    {"numbers", " number int float exact round indicator ",
     R"(Numbers are exact: ints are unbounded, floats are fractions, so 0.1+0.2 == 0.3 is True. `/` and
a mean give floats; 6/3 is 2.0. Only ^ with a fractional exponent is inexact. round(x) rounds
halves to even and gives an int; indicator(b) is 1 where b is True, else 0. A bool counts as
0 or 1 in arithmetic.
)"},
    {"lists", " list dict dicts range len zip comprehension ",
     R"([1, "a"], {"k": 1}, [x*x for x in range(4)], {k: 0 for k in "ab"}, l + m, l * 2, l[0], l[-1],
len(l), zip(l, m), x in l, range(stop), range(start, stop, step). Lists and dicts never change.
)"},
    {"statements", " statement assignment assign out ",
     R"(expr;   name = expr;   a, b = expr, expr;   a, b = f(x);   load "file";   draw(sop, input);
def f(x) { ... return e; }   for x in list { ... }   expect a == b;   puzzle name(args) { ... }
A statement ends with ; or }. # begins a comment. out is the last value.
)"},
    {"def", " function functions return ",
     R"(def f(x, y) { z = x + y; return z; }
The body has names of its own; several values can be returned: return a, b; then p, q = f(1, 2);
)"},
    {"for", " loop loops ",
     R"(for i in range(3) { x = x + i; }     assigns into the scope around it
for k, v in zip(keys, values) { ... } takes pairs apart
)"},
    {"load", " file files private ",
     R"(load "p"; reads p.rasp beside the loading file, then in the working directory, then in the
standard library. Names that start with _ stay private to their file.
)"},
    {"expect", " test ",
     R"(expect reverse("abc") == "cba"; compares, element by element; strings stand for lists of
characters. It prints a tick, or where the two differ.
)"},
    {"puzzle", " puzzles spec vocab limit ",
     R"(puzzle shift(i, default) {
  "Move every token i places to the right; freed places hold the default.";
  vocab "abcd"; length 1 to 6;
  expect shift(2, "-")("abcd") == "--ab";
  limit layers 1; limit heads 1;
}
)"},
    {"undefined", " error errors ",
     R"(An element whose computation fails (1/0, a missing key, tokens_int of a letter) is undefined.
That counts only where it is read: `0 if tokens_int == 0 else 6/tokens_int` is fine everywhere.
A definition that fails only on the running example is kept, with a note.
)"},
    {"library",
     " shift sort count contains has_focus selector_width full_s max min "
     "load_from_location mark_last_instance mark_first_instance select_from_last "
     "select_from_first select_next_identical ",
     R"(length  full_s  selector_width(s)  has_focus(s)  count(seq, x)  contains(seq, x)  max(a, b)
min(a, b)  average(seq)  load_from_location(seq, i)  shift(seq, i, default)
mark_last_instance(seq, x)  mark_first_instance(seq, x)  select_from_last(seq, x)
select_from_first(seq, x)  sort(seq, key)  select_next_identical(seq)
`:source NAME` shows how one is written.
)"},
};

}  // namespace

std::string_view help_text(std::string_view topic) {
  if (topic.empty()) return kOverview;
  for (const Topic& known : kTopics) {
    if (known.name == topic) return known.text;
  }
  const std::string padded = " " + std::string(topic) + " ";
  for (const Topic& known : kTopics) {
    if (known.aliases.find(padded) != std::string_view::npos) return known.text;
  }
  return {};
}

std::vector<std::string> help_topics() {
  std::vector<std::string> names;
  for (const Topic& topic : kTopics) names.emplace_back(topic.name);
  return names;
}

}  // namespace rasp::cli
