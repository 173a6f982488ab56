#include "syntax/precedence.h"

#include "syntax/lexer.h"

namespace rasp::syntax {
namespace {

struct Binding {
  int strength;  // the higher, the tighter
  bool right = false;
};

// language.md section 3, levels 2 to 10. Every infix operator is left-associative, the choice too.
Binding rasp_binding(const Item& item) {
  if (item.role == Item::Role::kPrefix) return {9};
  switch (item.kind) {
    case Kind::POWER:
      return {8};
    case Kind::TIMES:
    case Kind::DIVIDE:
      return {7};
    case Kind::MODULO:
      return {6};
    case Kind::PLUS:
    case Kind::MINUS:
      return {5};
    case Kind::AND:
    case Kind::OR:
      return {3};
    case Kind::IF:
      return {2};
    case Kind::IN:
      return {1};
    default:  // the comparisons
      return {4};
  }
}

// The Python Language Reference, section 6.17.
Binding python_binding(const Item& item) {
  if (item.role == Item::Role::kPrefix) return {item.kind == Kind::NOT ? 4 : 8};
  switch (item.kind) {
    case Kind::POWER:
      return {9, true};
    case Kind::TIMES:
    case Kind::DIVIDE:
    case Kind::MODULO:
      return {7};
    case Kind::PLUS:
    case Kind::MINUS:
      return {6};
    case Kind::AND:
      return {3};
    case Kind::OR:
      return {2};
    case Kind::IF:
      return {1, true};
    default:  // the comparisons, `in` among them
      return {5};
  }
}

bool chains_in_python(const Item& item) {
  return item.role == Item::Role::kInfix &&
         (is_comparison_sign(item.kind) || item.kind == Kind::IN);
}

// The shunting-yard method: operators wait on a stack until one that binds less tightly arrives.
class Grouper {
 public:
  Grouper(std::span<const Item> items, Dialect dialect, Grouping& out)
      : items_(items), dialect_(dialect), out_(out) {}

  void run() {
    out_.order.clear();
    out_.extents.assign(items_.size(), Extent{});
    for (std::uint32_t at = 0; at < items_.size(); ++at) {
      switch (items_[at].role) {
        case Item::Role::kOperand:
          out_.extents[at] = {at, at + 1};
          out_.order.push_back(at);
          done_.push_back(at);
          break;
        case Item::Role::kPrefix:
          waiting_.push_back(at);
          break;
        case Item::Role::kInfix:
          apply_before(at);
          waiting_.push_back(at);
          break;
      }
    }
    while (!waiting_.empty()) apply_last();
  }

 private:
  [[nodiscard]] Binding binding(std::uint32_t at) const {
    return dialect_ == Dialect::kRasp ? rasp_binding(items_[at]) : python_binding(items_[at]);
  }

  void apply_before(std::uint32_t arriving) {
    const Binding next = binding(arriving);
    while (!waiting_.empty()) {
      const int top = binding(waiting_.back()).strength;
      if (top < next.strength || (top == next.strength && next.right)) break;
      apply_last();
    }
  }

  void apply_last() {
    const std::uint32_t op = waiting_.back();
    waiting_.pop_back();
    const std::uint32_t right = done_.back();
    done_.pop_back();
    Extent extent{op, out_.extents[right].last};
    if (items_[op].role == Item::Role::kInfix) {
      const std::uint32_t left = done_.back();
      done_.pop_back();
      extent.first = out_.extents[left].first;
      if (dialect_ == Dialect::kPython && chains_in_python(items_[op]) &&
          chains_in_python(items_[left])) {
        out_.extents[left] = Extent{};
      }
    }
    out_.extents[op] = extent;
    out_.order.push_back(op);
    done_.push_back(op);
  }

  std::span<const Item> items_;
  Dialect dialect_;
  Grouping& out_;
  std::vector<std::uint32_t> waiting_;  // operators
  std::vector<std::uint32_t> done_;     // roots of finished subtrees
};

}  // namespace

void group(std::span<const Item> items, Dialect dialect, Grouping& grouping) {
  Grouper(items, dialect, grouping).run();
}

}  // namespace rasp::syntax
