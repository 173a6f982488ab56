#include "compiler/emit.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "compiler/halted.h"

namespace rasp::compiler {

using model::Matrix;
using model::Vector;

Layout lay_out(const Circuit& circuit, const Encoded& encoded) {
  std::vector<VarId> order(circuit.vars.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](VarId a, VarId b) { return circuit.vars[a].step < circuit.vars[b].step; });
  Layout layout;
  layout.d_model = kTokenColumn + 1;
  layout.begin.resize(circuit.vars.size(), 0);
  for (const VarId var : order) {
    layout.begin[var] = layout.d_model;
    layout.d_model += static_cast<std::uint32_t>(encoded.vars[var].width(circuit.vars[var]));
  }
  return layout;
}

std::string print(const Circuit& circuit, const Encoded& encoded, const Layout& layout) {
  std::string text = "d_model " + std::to_string(layout.d_model) + "\n0 bos\n1 token\n";
  for (VarId id = 0; id < circuit.vars.size(); ++id) {
    const std::size_t width = encoded.vars[id].width(circuit.vars[id]);
    if (width == 0) continue;
    text += std::to_string(layout.begin[id]) + " .. " +
            std::to_string(layout.begin[id] + width - 1) + " v" + std::to_string(id) + '\n';
  }
  return text;
}

std::string print(const model::Model& model) {
  const auto shape = [](std::string_view name, const Matrix& m) {
    return "  " + std::string(name) + " [" + std::to_string(m.rows()) + ", " +
           std::to_string(m.cols()) + "]";
  };
  std::string text = shape("embed.tokens", model.token_embedding) + '\n' +
                     shape("embed.positions", model.position_embedding) + '\n';
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    text += "layer " + std::to_string(l) + '\n';
    for (const model::Head& head : model.layers[l].heads) {
      text += shape("wq", head.wq) + shape("wk", head.wk) + shape("wv", head.wv) +
              shape("wo", head.wo) + "  " + head.name + '\n';
    }
    const model::Mlp& mlp = model.layers[l].mlp;
    text += shape("w_in", mlp.w_in) + shape("w_out", mlp.w_out) + '\n';
  }
  return text + shape("unembed", model.unembedding) + '\n';
}

std::string print(const model::Certificate& certificate) {
  std::string text;
  for (const model::CertificateLine& line : certificate.lines) {
    text += line.part + " (" + line.name + "): " + (line.holds ? "holds" : "FAILS") + ", margin " +
            value::Number::inexact(line.margin).brief() + ", bound " +
            value::Number::inexact(line.bound).repr() + "; " + line.detail + '\n';
  }
  return text + (certificate.holds ? "certified\n" : "not certified\n");
}

namespace {

class Emitter {
 public:
  Emitter(const Circuit& circuit, const Encoded& encoded, const Layout& layout,
          const Labels& labels, const Options& options)
      : circuit_(circuit), encoded_(encoded), layout_(layout), labels_(labels), options_(options) {}

  model::Model run() {
    model_.vocabulary = options_.vocabulary;
    model_.max_length = circuit_.max_length;
    model_.causal = options_.causal;
    model_.dtype = circuit_.dtype;
    model_.d_model = layout_.d_model;
    model_.decoder = circuit_.output.decoder;
    embeddings();
    layers();
    const auto& columns = circuit_.output.columns;
    model_.unembedding = Matrix::Zero(layout_.d_model, static_cast<Eigen::Index>(columns.size()));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      model_.unembedding.col(static_cast<Eigen::Index>(c)) = read(columns[c]).transpose();
    }
    slices();
    round_to_dtype();
    return std::move(model_);
  }

 private:
  // What BOS holds in one column of a variable.
  [[nodiscard]] double at_bos(VarId id, std::size_t column) const {
    const Var& var = circuit_.vars[id];
    if (var.scalar) return var.bos_scalar;
    return var.bos_value ? encoded_.vars[id].columns[column][*var.bos_value] : 0.0;
  }

  // The weights of a linear read: the form at tokens, 0 at BOS.
  [[nodiscard]] Vector read(const Form& form) const {
    Vector weights = Vector::Zero(layout_.d_model);
    double& token = weights[kTokenColumn];
    double& bos = weights[kBosColumn];
    token += form.offset;
    for (const Term& term : form.terms) {
      const Encoding& encoding = encoded_.vars[term.var];
      const std::uint32_t begin = layout_.begin[term.var];
      const auto put = [&](std::size_t column, double weight) {
        weights[static_cast<Eigen::Index>(begin + column)] += weight;
        bos -= weight * at_bos(term.var, column);
      };
      if (circuit_.vars[term.var].scalar) {
        put(0, term.weight);
        continue;
      }
      if (encoding.one_hot) {
        for (std::size_t c = 0; c < encoding.columns.size(); ++c) {
          put(c, term.f[encoding.representative[c]]);
        }
        continue;
      }
      const NormalFeature normal = normalise(term.f);
      token += normal.offset;
      const auto column = std::find(encoding.columns.begin(), encoding.columns.end(), normal.f);
      if (column != encoding.columns.end()) {
        put(static_cast<std::size_t>(column - encoding.columns.begin()), normal.scale);
      } else if (std::any_of(normal.f.begin(), normal.f.end(), [](double x) { return x != 0; })) {
        throw Refusal{circuit_.vars[term.var].node,
                      "a reader asks for what the stream does not hold",
                      "this is a fault of the compiler; please report the program"};
      }
    }
    return weights;
  }

  void embeddings() {
    const auto tokens = static_cast<Eigen::Index>(model_.vocabulary.size());
    model_.token_embedding = Matrix::Zero(tokens + 1, layout_.d_model);
    model_.position_embedding = Matrix::Zero(circuit_.max_length + 1, layout_.d_model);
    model_.token_embedding(tokens, kBosColumn) = 1.0;
    model_.token_embedding.block(0, kTokenColumn, tokens, 1).setOnes();
    for (VarId id = 0; id < circuit_.vars.size(); ++id) {
      const Encoding& encoding = encoded_.vars[id];
      if (!encoding.live || circuit_.vars[id].scalar) continue;
      const bool of_position = id == circuit_.position;
      for (std::size_t c = 0; c < encoding.columns.size(); ++c) {
        const auto column = static_cast<Eigen::Index>(layout_.begin[id] + c);
        if (circuit_.vars[id].step > 0) {
          model_.token_embedding.block(0, column, tokens, 1).setConstant(encoding.base[c]);
          continue;
        }
        for (std::size_t v = 0; v < encoding.columns[c].size(); ++v) {
          const auto row = static_cast<Eigen::Index>(v);
          if (of_position) {
            model_.position_embedding(row + 1, column) = encoding.columns[c][v];
          } else {
            model_.token_embedding(row, column) = encoding.columns[c][v];
          }
        }
      }
    }
  }

  void layers() {
    std::uint32_t steps = 0;
    for (const EncodedOp& op : encoded_.ops) steps = std::max(steps, op.step);
    model_.layers.resize((steps + 1) / 2);
    for (std::size_t l = 0; l < model_.layers.size(); ++l) {
      const auto attention = static_cast<std::uint32_t>(2 * l + 1);
      std::vector<const EncodedOp*> units;
      for (const EncodedOp& op : encoded_.ops) {
        if (op.step == attention) {
          if (circuit_.output.decoder.kind == model::Decoder::Kind::kPattern &&
              op.head->outputs.empty()) {
            model_.decoder.pattern_layer = static_cast<std::uint32_t>(l);
            model_.decoder.pattern_head = static_cast<std::uint32_t>(model_.layers[l].heads.size());
          }
          model_.layers[l].heads.push_back(head(op));
        }
        if (op.step == attention + 1) units.push_back(&op);
      }
      model_.layers[l].mlp = mlp(units);
      charge(model_.layers[l]);
    }
  }

  // Refuses before memory runs out: a deep program's weights grow with the square of its depth.
  void charge(const model::Layer& layer) {
    heed(options_.halt);
    const auto size = [](const Matrix& matrix) {
      return static_cast<std::uint64_t>(matrix.size());
    };
    weights_ += size(layer.mlp.w_in) + size(layer.mlp.w_out);
    for (const model::Head& head : layer.heads) {
      weights_ += size(head.wq) + size(head.wk) + size(head.wv) + size(head.wo);
    }
    if (weights_ <= options_.max_weights) return;
    throw Refusal{kNoIr,
                  "its " + std::to_string(model_.layers.size()) + " layers take more than " +
                      std::to_string(options_.max_weights) + " weights",
                  "a program of fewer steps, a shorter length or a smaller vocabulary takes fewer"};
  }

  model::Head head(const EncodedOp& encoded) const {
    const HeadOp& op = *encoded.head;
    model::Head head;
    head.name = labels_.name[op.selector];
    head.origin = labels_.origin[op.selector];
    const auto dims = static_cast<Eigen::Index>(op.logits.dims.size());
    head.wq = Matrix::Zero(layout_.d_model, dims + 1);
    head.wk = Matrix::Zero(layout_.d_model, dims + 1);
    for (Eigen::Index d = 0; d < dims; ++d) {
      head.wq.col(d) = read(op.logits.dims[static_cast<std::size_t>(d)].query).transpose();
      head.wk.col(d) = read(op.logits.dims[static_cast<std::size_t>(d)].key).transpose();
    }
    // The last dimension is BOS as a key: half a unit below the selected keys, or above them for a
    // sum; and far above everything for BOS as a query, which thus attends to itself alone.
    const double c = circuit_.logit_unit();
    const double m = op.logits.predicates;
    head.wk(kBosColumn, dims) = 1.0;
    head.wq(kTokenColumn, dims) = op.kind == HeadKind::kSum    ? m * c + kSinkDepth
                                  : op.kind == HeadKind::kMean ? (m - 0.5) * c
                                                               : m * c;
    head.wq(kBosColumn, dims) = (m + 2) * c;
    values(encoded, head);
    return head;
  }

  void values(const EncodedOp& encoded, model::Head& head) const {
    const HeadOp& op = *encoded.head;
    std::vector<std::pair<std::uint32_t, Vector>> columns;
    for (const std::size_t index : encoded.outputs) {
      const HeadOutput& output = op.outputs[index];
      const std::uint32_t begin = layout_.begin[output.target];
      if (circuit_.vars[output.target].scalar) {
        Vector weights = read(output.form);
        weights[kBosColumn] += output.bos;
        columns.emplace_back(begin, std::move(weights));
        continue;
      }
      const Encoding& encoding = encoded_.vars[output.target];
      for (std::size_t c = 0; c < encoding.columns.size(); ++c) {
        Vector weights = read(pick_form(circuit_, output, encoding.columns[c]));
        weights[kBosColumn] += at_bos(output.target, c);
        columns.emplace_back(begin + static_cast<std::uint32_t>(c), std::move(weights));
      }
    }
    const auto width = static_cast<Eigen::Index>(columns.size());
    head.wv = Matrix::Zero(layout_.d_model, width);
    head.wo = Matrix::Zero(width, layout_.d_model);
    for (Eigen::Index c = 0; c < width; ++c) {
      head.wv.col(c) = columns[static_cast<std::size_t>(c)].second.transpose();
      head.wo(c, columns[static_cast<std::size_t>(c)].first) =
          op.kind == HeadKind::kSum ? std::exp(kSinkDepth) : 1.0;
    }
  }

  model::Mlp mlp(const std::vector<const EncodedOp*>& ops) const {
    Eigen::Index units = 0;
    for (const EncodedOp* op : ops) units += static_cast<Eigen::Index>(op->units.size());
    model::Mlp mlp;
    mlp.w_in = Matrix::Zero(layout_.d_model, units);
    mlp.b_in = Vector::Zero(units);
    mlp.w_out = Matrix::Zero(units, layout_.d_model);
    Eigen::Index u = 0;
    for (const EncodedOp* op : ops) {
      for (const Unit& unit : op->units) {
        Vector weights = read(unit.form);
        // At BOS the form is 0, and what is left is the bias: it must not let the unit through.
        if (unit.bias > 0) weights[kBosColumn] -= unit.bias;
        mlp.w_in.col(u) = weights.transpose();
        mlp.b_in[u] = unit.bias;
        for (std::size_t c = 0; c < unit.out.size(); ++c) {
          mlp.w_out(u, static_cast<Eigen::Index>(layout_.begin[op->target] + c)) = unit.out[c];
        }
        ++u;
      }
    }
    return mlp;
  }

  void slices() {
    const auto flag = [&](std::string name, std::uint32_t column, double bos) {
      model::Slice slice;
      slice.name = std::move(name);
      slice.encoding = model::Slice::Encoding::kFlag;
      slice.begin = column;
      slice.end = column + 1;
      slice.features = Matrix::Constant(1, 1, 1.0 - bos);
      slice.values = {value::make_int(bos == 1.0 ? 0 : 1)};
      slice.bos_value = Vector::Constant(1, bos);
      model_.slices.push_back(std::move(slice));
    };
    flag("bos", kBosColumn, 1.0);
    flag("token", kTokenColumn, 0.0);
    std::vector<VarId> order;
    for (VarId id = 0; id < circuit_.vars.size(); ++id) {
      if (encoded_.vars[id].live) order.push_back(id);
    }
    std::sort(order.begin(), order.end(),
              [&](VarId a, VarId b) { return layout_.begin[a] < layout_.begin[b]; });
    for (const VarId id : order) model_.slices.push_back(slice(id));
  }

  [[nodiscard]] model::Slice slice(VarId id) const {
    const Var& var = circuit_.vars[id];
    const Encoding& encoding = encoded_.vars[id];
    model::Slice slice;
    slice.name = labels_.name[var.node];
    slice.origin = labels_.origin[var.node];
    slice.begin = layout_.begin[id];
    slice.end = slice.begin + static_cast<std::uint32_t>(encoding.width(var));
    slice.first_step = var.step;
    slice.bos_value = Vector::Zero(slice.end - slice.begin);
    for (std::size_t c = 0; c < slice.end - slice.begin; ++c) {
      slice.bos_value[static_cast<Eigen::Index>(c)] = at_bos(id, c);
    }
    if (var.scalar) {
      slice.encoding = model::Slice::Encoding::kScalar;
      slice.minimum = var.minimum.to_double();
      slice.maximum = var.maximum.to_double();
      slice.error = var.error;
      return slice;
    }
    slice.encoding =
        encoding.one_hot ? model::Slice::Encoding::kOneHot : model::Slice::Encoding::kFeatures;
    slice.values = var.values;
    slice.features = Matrix::Zero(static_cast<Eigen::Index>(var.values.size()),
                                  static_cast<Eigen::Index>(encoding.columns.size()));
    for (std::size_t c = 0; c < encoding.columns.size(); ++c) {
      for (std::size_t v = 0; v < var.values.size(); ++v) {
        slice.features(static_cast<Eigen::Index>(v), static_cast<Eigen::Index>(c)) =
            encoding.columns[c][v];
      }
    }
    return slice;
  }

  // With dtype f32 every weight is exactly a float32.
  void round_to_dtype() {
    if (model_.dtype == model::Dtype::kF64) return;
    const auto round = [](auto& weights) {
      weights = weights.template cast<float>().template cast<double>().eval();
    };
    round(model_.token_embedding);
    round(model_.position_embedding);
    round(model_.unembedding);
    for (model::Layer& layer : model_.layers) {
      for (model::Head& head : layer.heads) {
        round(head.wq);
        round(head.wk);
        round(head.wv);
        round(head.wo);
      }
      round(layer.mlp.w_in);
      round(layer.mlp.b_in);
      round(layer.mlp.w_out);
    }
    for (model::Slice& slice : model_.slices) {
      round(slice.features);
      round(slice.bos_value);
    }
  }

  const Circuit& circuit_;
  const Encoded& encoded_;
  const Layout& layout_;
  const Labels& labels_;
  const Options& options_;
  std::uint64_t weights_ = 0;  // of the layers so far
  model::Model model_;
};

}  // namespace

model::Model emit(const Circuit& circuit, const Encoded& encoded, const Layout& layout,
                  const Labels& labels, const Options& options) {
  return Emitter(circuit, encoded, layout, labels, options).run();
}

}  // namespace rasp::compiler
