// Costs are counted again here, product by product.
#include "visual/cost.h"

#include <gtest/gtest.h>

#include "../model/random_model.h"

namespace rasp::visual {
namespace {

using model::Matrix;
using model::Model;
using testing::RandomModel;

// Multiply-adds of rows [begin, end) of a pass over n tokens.
struct Counter {
  const Model& model;
  bool nonzero;

  [[nodiscard]] double product(const Matrix& weights) const {
    double count = 0;
    for (Eigen::Index i = 0; i < weights.size(); ++i)
      count += nonzero && weights.data()[i] == 0 ? 0 : 1;
    return count;
  }
  [[nodiscard]] double rows(std::size_t begin, std::size_t end, std::size_t n) const {
    double count = 0;
    for (std::size_t row = begin; row < end; ++row) {
      for (const model::Layer& layer : model.layers) {
        for (const model::Head& head : layer.heads) {
          count += product(head.wq) + product(head.wk) + product(head.wv) + product(head.wo);
          const std::size_t keys = model.causal ? row + 1 : n + 1;
          for (std::size_t key = 0; key < keys; ++key)
            count += static_cast<double>(head.wq.cols() + head.wv.cols());
        }
        count += product(layer.mlp.w_in) + product(layer.mlp.w_out);
      }
      if (row > 0) count += product(model.unembedding);  // BOS is not decoded
    }
    return count;
  }
};

TEST(Cost, IsWhatAPassMultiplies) {
  RandomModel random(41);
  for (int round = 0; round < 100; ++round) {
    const Model model = random();
    const Cost cost = cost_of(model);
    double numbers = 0;
    for (const model::Layer& layer : model.layers)
      for (const model::Head& head : layer.heads)
        numbers += static_cast<double>(head.wk.cols() + head.wv.cols());
    for (const std::size_t n : {1U, 2U, 7U, 30U}) {
      const auto at = static_cast<double>(n);
      EXPECT_EQ(cost.forward.at(at), (Counter{model, false}.rows(0, n + 1, n)));
      EXPECT_EQ(cost.forward_nonzero.at(at), (Counter{model, true}.rows(0, n + 1, n)));
      EXPECT_EQ(cost.cache_bytes.at(at),
                numbers * (at + 1) * (model.dtype == model::Dtype::kF32 ? 4 : 8));
      if (!model.causal) continue;
      EXPECT_EQ(cost.token.at(at), (Counter{model, false}.rows(n, n + 1, n)));
      EXPECT_EQ(cost.token_nonzero.at(at), (Counter{model, true}.rows(n, n + 1, n)));
    }
  }
}

TEST(Cost, FormulasRead) {
  EXPECT_EQ(formula_text({0.5, 10, 3}), "0.5 n^2 + 10 n + 3");
  EXPECT_EQ(formula_text({1, 1, 1}), "n^2 + n + 1");
  EXPECT_EQ(formula_text({0, 0, 0}), "0");
  EXPECT_EQ(formula_text({0, 123456789012, 0}), "123456789012 n");
}

// Text without what was not measured, and without decoding where there is none.
TEST(Cost, TextTellsWhatThereIs) {
  RandomModel random(42);
  Model model = random();
  model.causal = false;
  const std::string plain = cost_text(model, 5, {});
  EXPECT_NE(plain.find("n = 5"), std::string::npos);
  EXPECT_EQ(plain.find("measured"), std::string::npos);
  EXPECT_EQ(plain.find("KV cache"), std::string::npos);
  model.causal = true;
  const std::string measured = cost_text(model, 5, {0.5, 0.25, 1234});
  EXPECT_NE(measured.find("0.5 s"), std::string::npos);
  EXPECT_NE(measured.find("0.25 s"), std::string::npos);
  EXPECT_NE(measured.find("1234"), std::string::npos);
}

}  // namespace
}  // namespace rasp::visual
