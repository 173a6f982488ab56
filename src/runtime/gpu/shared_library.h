// A library that is opened when it is needed and may not be there.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace rasp::runtime::gpu {

class SharedLibrary {
 public:
  // The first of `names` that opens. Stays open: drivers do not like to be unloaded.
  explicit SharedLibrary(std::initializer_list<std::string> names) {
    for (const std::string& name : names) {
      if (name.empty()) continue;
      handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
    }
  }

  [[nodiscard]] bool opened() const { return handle_ != nullptr; }

  // Sets `function` to the symbol; false where there is none.
  template <typename Function>
  bool find(Function*& function, const char* symbol) const {
    function = handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle_, symbol));
    return function != nullptr;
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace rasp::runtime::gpu
