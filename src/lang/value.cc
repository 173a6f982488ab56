#include "lang/value.h"

namespace rasp::lang {

namespace {

struct Describe {
  std::string operator()(const value::Atom& atom) const {
    const value::Type type = value::type_of(atom);
    return (type == value::Type::kInt ? "an " : "a ") + std::string(value::name_of(type));
  }
  std::string operator()(const List&) const { return "a list"; }
  std::string operator()(const Dict&) const { return "a dict"; }
  std::string operator()(const SOp&) const { return "an s-op"; }
  std::string operator()(const Selector&) const { return "a selector"; }
  std::string operator()(const FunctionRef&) const { return "a function"; }
  std::string operator()(const AppliedSequenceRef&) const { return "a list"; }
  std::string operator()(const AppliedMatrixRef&) const { return "a matrix"; }
};

}  // namespace

std::string describe(const Value& value) { return std::visit(Describe{}, value.data); }

}  // namespace rasp::lang
