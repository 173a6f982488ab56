// A transformer as plain data: a token and a position embedding, L layers of multi-head softmax
// attention and a ReLU MLP on a residual stream (no normalisation layers), an unembedding, and a
// BOS token in front of every input.
//
// Shapes. Sequences have 1 + n positions: BOS at 0, the tokens at 1 .. n. Row vectors multiply
// matrices from the left:
//   x     [1 + n, d_model]     x = token_embedding[t] + position_embedding[p]
//   head  q = x Wq, k = x Wk   [1 + n, d_qk];  v = x Wv [1 + n, d_v];  x += softmax(q kT *
//   attention_scale) v Wo mlp   x += relu(x W_in + b_in) W_out out   y = x unembedding    [1 + n,
//   d_out], decoded by `Decoder`; row 0 (BOS) is not decoded
// Weights are kept as doubles; with dtype f32 each is exactly a float32.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "value/atom.h"

namespace rasp::model {

// Row-major: a row is one position, one token or one input dimension.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::Matrix<double, 1, Eigen::Dynamic>;

enum class Dtype : std::uint8_t { kF32, kF64 };

// A labelled range of residual dimensions, [begin, end), that holds one variable. Steps count the
// half-layers of the stream: 0 is the embedding, 2l + 1 is after the attention of layer l, 2l + 2
// after its MLP. From `first_step` on, the columns of a token position hold the variable:
//   categorical  exactly `features` row i when the variable is values[i]   (features [values, end -
//   begin]) scalar       one column, within `error` of a rational in [minimum, maximum]; `values`
//   lists them when they are few
// At BOS they hold `bos_value` [end - begin], exactly. Before `first_step` the columns hold what
// the embedding put there.
struct Slice {
  enum class Encoding : std::uint8_t { kOneHot, kFeatures, kScalar, kFlag };
  std::string name;    // the source name, or the expression
  std::string origin;  // "line 3", "basics.rasp:7", or ""
  Encoding encoding = Encoding::kFeatures;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t first_step = 0;
  std::vector<value::Atom> values;
  Matrix features;
  Vector bos_value;
  double minimum = 0;
  double maximum = 0;
  double error = 0;
};

struct Head {
  std::string name;    // "hist@0": the selector's source name or expression
  std::string origin;  // the place of the selector, likewise
  Matrix wq;           // [d_model, d_qk]
  Matrix wk;           // [d_model, d_qk]
  Matrix wv;           // [d_model, d_v]
  Matrix wo;           // [d_v, d_model]
};

struct Mlp {
  Matrix w_in;   // [d_model, d_mlp]
  Vector b_in;   // [d_mlp]
  Matrix w_out;  // [d_mlp, d_model]
};

struct Layer {
  std::vector<Head> heads;  // may be empty
  Mlp mlp;                  // d_mlp may be 0
};

// How a row of y becomes an atom.
struct Decoder {
  enum class Kind : std::uint8_t {
    kArgmax,   // values[argmax(y[0 .. values.size()))]; y has one entry a value
    kScalar,   // values[i] for the code i nearest to y[0]; or, when `codes` is empty, the rational
               // p/q nearest to y[0] with 1 <= q <= max_denominator and minimum <= p/q <= maximum
               // (the certificate proves it unique)
    kPattern,  // the answer is a selector: key k is selected by query q where the attention of head
               // `pattern_head` of layer `pattern_layer` is not 0
  };
  Kind kind = Kind::kArgmax;
  std::vector<value::Atom> values;
  std::vector<value::Number> codes;  // kScalar: ascending, one for each of `values`
  value::Number minimum, maximum;    // kScalar without codes
  std::int64_t max_denominator = 1;
  bool multiples = false;  // kScalar without codes: only whole multiples of 1/max_denominator
  std::uint32_t pattern_layer = 0;
  std::uint32_t pattern_head = 0;
  // Whole numbers are listed as ints. Whether a number is an int or a float in the language is told
  // by the column `type_output` of y, above 0.5 for a float, when it is not negative; else by
  // `number_type`.
  enum class NumberType : std::uint8_t { kAsListed, kFloat };
  NumberType number_type = NumberType::kAsListed;
  std::int32_t type_output = -1;
};

// One line of the certificate: a head, a group of units or an output, with the margin that the
// checker found in the weights, the error bound it must exceed, and the verdict.
struct CertificateLine {
  std::string part;  // "layer 0 head 1", "layer 0 mlp", "output"
  std::string name;
  double margin = 0;
  double bound = 0;
  bool holds = false;
  std::string detail;
};

struct Certificate {
  std::vector<CertificateLine> lines;
  bool holds = false;  // there is at least one line, and every line holds
};

struct Model {
  // Configuration.
  std::uint32_t format_version = 1;
  std::string name;                     // of the s-op
  std::string program;                  // the printed graph it was compiled from
  std::vector<value::Atom> vocabulary;  // token ids 0 .. size-1; BOS has id size
  std::uint32_t max_length = 0;         // tokens, BOS not counted
  bool causal = false;
  Dtype dtype = Dtype::kF32;
  double attention_scale = 1.0;
  std::uint32_t d_model = 0;

  // Weights.
  Matrix token_embedding;     // [vocabulary + 1, d_model]
  Matrix position_embedding;  // [max_length + 1, d_model]
  std::vector<Layer> layers;
  Matrix unembedding;  // [d_model, d_out]
  Decoder decoder;

  // For people and tools.
  std::vector<Slice> slices;
  Certificate certificate;

  [[nodiscard]] std::size_t parameters() const;  // entries of all the matrices above
};

}  // namespace rasp::model
