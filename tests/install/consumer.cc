// Compiles reverse, runs its weights, and compares them with the interpreter: the library as
// another program uses it. Exit status 0 when they agree.
#include <algorithm>
#include <cstdio>

#include "compiler/compiler.h"
#include "interpreter/interpreter.h"
#include "lang/session.h"
#include "runtime/backend.h"

int main() {
  rasp::SourceMap sources;
  rasp::lang::Session session(sources);
  const rasp::FileId file = sources.add(
      "reverse.rasp", "reverse = aggregate(select(indices, length - 1 - indices, ==), tokens);");
  if (!session.run(file).ok()) return 1;
  const std::optional<rasp::lang::Value> reverse = session.lookup("reverse");
  const auto* node = reverse ? std::get_if<rasp::lang::SOp>(&reverse->data) : nullptr;
  if (node == nullptr) return 2;

  rasp::compiler::Options options;
  options.vocabulary = rasp::value::characters("abc");
  options.max_length = 5;
  const auto compiled = rasp::compiler::compile(session.graph(), node->node, {}, sources, options);
  if (!compiled) return 3;
  const auto executable = rasp::runtime::make_cpu_backend(1)->load(compiled->model);
  const std::vector<rasp::value::Atom> input = rasp::value::characters("abcab");
  const auto tokens = rasp::runtime::encode(compiled->model, input);
  if (!executable || !tokens) return 4;
  const std::vector<std::vector<rasp::runtime::TokenId>> batch = {*tokens};
  const auto outputs = (*executable)->run(batch);
  if (!outputs) return 5;
  const auto answer = rasp::runtime::decode(compiled->model, outputs->front());
  const auto expected = rasp::interpreter::evaluate(session.graph(), node->node, input, {});
  if (!answer || !expected) return 6;
  const bool same = std::equal(answer->begin(), answer->end(), expected->begin(), expected->end(),
                               rasp::value::identical);
  std::printf("%s\n", same ? "the same" : "different");
  return same ? 0 : 7;
}
