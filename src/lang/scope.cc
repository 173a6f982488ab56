#include "lang/scope.h"

#include <utility>

namespace rasp::lang {

const Binding* Scope::find_here(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second;
}

const Binding* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const Binding* binding = scope->find_here(name)) return binding;
    if (scope->of_file_ && is_private(name)) return nullptr;
  }
  return nullptr;
}

void Scope::bind(std::string_view name, Binding binding) {
  if (const auto found = names_.find(name); found != names_.end()) {
    found->second = std::move(binding);
  } else {
    names_.emplace(name, std::move(binding));
  }
}

void Scope::unbind(std::string_view name) {
  if (const auto found = names_.find(name); found != names_.end()) names_.erase(found);
}

}  // namespace rasp::lang
