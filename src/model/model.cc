#include "model/model.h"

#include "model/tensors.h"

namespace rasp::model {

std::size_t Model::parameters() const {
  std::size_t count = 0;
  for_each_weight(*this, [&](const std::string&, const auto& tensor) {
    count += static_cast<std::size_t>(tensor.size());
  });
  return count;
}

}  // namespace rasp::model
