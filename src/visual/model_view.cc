#include "visual/model_view.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "value/atom.h"
#include "visual/text.h"

namespace rasp::visual {
namespace {

using model::Matrix;
using model::Slice;
using model::Vector;

constexpr double kAlike = 1e-4;  // a share of a value: above rounding, below any gap
constexpr std::size_t kShownAlike = 3;

Eigen::Index width_of(const Slice& slice) {
  return static_cast<Eigen::Index>(slice.end - slice.begin);
}

bool is_zero(const Matrix& matrix) { return matrix.size() == 0 || matrix.isZero(0); }

// The stream as a head or an MLP of one layer finds it: which slices hold something, and what the
// columns are that do not vary.
struct Reader {
  Reader(const model::Model& of, std::uint32_t step, std::size_t limit) : model(of) {
    token = Vector::Zero(of.d_model);
    bos = Vector::Zero(of.d_model);
    for (std::size_t s = 0; s < of.slices.size(); ++s) {
      const Slice& slice = of.slices[s];
      if (slice.first_step > step) continue;
      if (slice.bos_value.size() == width_of(slice)) {
        bos.segment(slice.begin, width_of(slice)) = slice.bos_value;
      }
      if (slice.encoding != Slice::Encoding::kFlag) {
        slices.push_back(static_cast<std::int32_t>(s));
        rows.push_back(named_rows(slice, limit));
      } else if (slice.features.rows() == 1) {
        token.segment(slice.begin, width_of(slice)) = slice.features.row(0);
      }
    }
  }

  // rows of slices[i] through `weights` [d_model, m]
  [[nodiscard]] Matrix through(std::size_t i, const Matrix& weights) const {
    const Slice& slice = model.slices[static_cast<std::size_t>(slices[i])];
    return rows[i].features * weights.middleRows(slice.begin, width_of(slice));
  }

  const model::Model& model;
  std::vector<std::int32_t> slices;  // those that vary
  std::vector<NamedRows> rows;
  Vector token;  // what is the same at every token
  Vector bos;    // all that BOS holds
};

NamedRows any_token() { return {{"any token"}, Matrix::Zero(1, 0), 0}; }

QkTable& table_for(std::vector<QkTable>& tables, std::int32_t query, std::int32_t key,
                   const NamedRows& queries, const NamedRows& keys) {
  QkTable& table = tables.emplace_back();
  table.query_slice = query;
  table.key_slice = key;
  table.queries = queries;
  table.keys = keys;
  table.logits = Matrix::Zero(static_cast<Eigen::Index>(queries.labels.size()),
                              static_cast<Eigen::Index>(keys.labels.size()));
  return table;
}

class QkBuilder {
 public:
  QkBuilder(const Reader& reader, const model::Head& head)
      : reader_(reader), scale_(reader.model.attention_scale / logit_unit(reader.model)) {
    token_query_ = reader.token * head.wq;
    token_key_ = reader.token * head.wk;
    bos_key_ = reader.bos * head.wk;
    for (std::size_t i = 0; i < reader.slices.size(); ++i) {
      queries_.push_back(reader.through(i, head.wq));
      keys_.push_back(reader.through(i, head.wk));
    }
  }

  std::vector<QkTable> build() {
    for (std::size_t a = 0; a < queries_.size(); ++a) {
      for (std::size_t b = 0; b < keys_.size(); ++b) {
        const Matrix logits = scale_ * queries_[a] * keys_[b].transpose();
        if (is_zero(logits)) continue;
        table_for(tables_, reader_.slices[a], reader_.slices[b], reader_.rows[a], reader_.rows[b])
            .logits = logits;
      }
    }
    for (std::size_t a = 0; a < queries_.size(); ++a) add_query_terms(a);
    for (std::size_t b = 0; b < keys_.size(); ++b) add_key_terms(b);
    const double constant = scale_ * token_query_.dot(token_key_);
    const double bos = scale_ * token_query_.dot(bos_key_);
    if (tables_.empty()) table_for(tables_, kAny, kAny, any_token(), any_token());
    tables_.front().logits.array() += constant;
    for (double& logit : bos_of(tables_.front())) logit += bos;
    return std::move(tables_);
  }

 private:
  static std::vector<double>& bos_of(QkTable& table) {
    table.bos.resize(table.queries.labels.size());
    return table.bos;
  }

  void add_query_terms(std::size_t a) {
    const Vector alone = scale_ * token_key_ * queries_[a].transpose();
    const Vector bos = scale_ * bos_key_ * queries_[a].transpose();
    if (is_zero(alone) && is_zero(bos)) return;
    auto table = std::ranges::find(tables_, reader_.slices[a], &QkTable::query_slice);
    if (table == tables_.end()) {
      table_for(tables_, reader_.slices[a], kAny, reader_.rows[a], any_token());
      table = tables_.end() - 1;
    }
    table->logits.colwise() += alone.transpose();
    std::vector<double>& column = bos_of(*table);
    for (Eigen::Index q = 0; q < bos.size(); ++q) column[static_cast<std::size_t>(q)] += bos[q];
  }

  void add_key_terms(std::size_t b) {
    const Vector alone = scale_ * token_query_ * keys_[b].transpose();
    if (is_zero(alone)) return;
    auto table = std::ranges::find(tables_, reader_.slices[b], &QkTable::key_slice);
    if (table == tables_.end()) {
      table_for(tables_, kAny, reader_.slices[b], any_token(), reader_.rows[b]);
      table = tables_.end() - 1;
    }
    table->logits.rowwise() += alone;
  }

  const Reader& reader_;
  double scale_;
  Vector token_query_, token_key_, bos_key_;
  std::vector<Matrix> queries_, keys_;  // by Reader::slices
  std::vector<QkTable> tables_;
};

// How far BOS stands above the best key, in units of C, at the query where that is least. Tables of
// one query slice belong together; those of different ones vary freely.
double bos_above_keys(const std::vector<QkTable>& tables) {
  std::map<std::int32_t, Vector> by_query;
  for (const QkTable& table : tables) {
    Vector rest = -table.logits.rowwise().maxCoeff().transpose();
    for (std::size_t q = 0; q < table.bos.size(); ++q) {
      rest[static_cast<Eigen::Index>(q)] += table.bos[q];
    }
    const auto [at, is_new] = by_query.try_emplace(table.query_slice, rest);
    if (!is_new) at->second += rest;
  }
  double above = 0;
  for (const auto& [slice, rest] : by_query) above += rest.minCoeff();
  return above;
}

HeadKind kind_of(const model::Model& model, std::size_t layer, std::size_t head, double bos) {
  const model::Decoder& decoder = model.decoder;
  if (decoder.kind == model::Decoder::Kind::kPattern && decoder.pattern_layer == layer &&
      decoder.pattern_head == head) {
    return HeadKind::kPattern;
  }
  if (bos < -0.25) return HeadKind::kMean;
  return bos * logit_unit(model) > 1 ? HeadKind::kSum : HeadKind::kShare;
}

class OvBuilder {
 public:
  // `share`: what the weight of one selected key comes to.
  OvBuilder(const Reader& reader, const model::Head& head, double share) : reader_(reader) {
    const Matrix circuit = head.wv * head.wo;  // [d_model, d_model]
    token_ = share * (reader.token * circuit);
    bos_ = reader.bos * circuit;
    for (std::size_t i = 0; i < reader.slices.size(); ++i) {
      written_.push_back(share * reader.through(i, circuit));
    }
  }

  std::vector<OvTable> build() {
    for (std::size_t t = 0; t < reader_.model.slices.size(); ++t) add_target(t);
    return std::move(tables_);
  }

 private:
  void add_target(std::size_t t) {
    const Slice& target = reader_.model.slices[t];
    const auto columns = [&](const auto& of) {
      return of.middleCols(target.begin, width_of(target));
    };
    std::vector<std::size_t> from;
    for (std::size_t i = 0; i < written_.size(); ++i) {
      if (!is_zero(columns(written_[i]))) from.push_back(i);
    }
    const Vector constant = columns(token_);
    const Vector bos = columns(bos_);
    if (from.empty() && is_zero(constant) && is_zero(bos)) return;
    const std::string when_bos = meaning_of(target, base(target) + bos);
    const auto add = [&](std::int32_t slice, const NamedRows& keys, const Matrix& written) {
      OvTable& table = tables_.emplace_back();
      table.key_slice = slice;
      table.target_slice = static_cast<std::int32_t>(t);
      table.keys = keys;
      table.written = written;
      for (Eigen::Index row = 0; row < written.rows(); ++row) {
        table.meaning.push_back(meaning_of(target, base(target) + written.row(row)));
      }
      table.when_bos = when_bos;
    };
    // What does not vary goes with the one slice that does, where there is one.
    if (from.size() != 1) add(kAny, any_token(), constant);
    for (const std::size_t i : from) {
      Matrix written = columns(written_[i]);
      if (from.size() == 1) written.rowwise() += constant;
      add(reader_.slices[i], reader_.rows[i], written);
    }
  }

  // What the embedding has put into the columns.
  [[nodiscard]] Vector base(const Slice& slice) const {
    if (slice.first_step == 0) return Vector::Zero(width_of(slice));
    return reader_.model.token_embedding.row(0).segment(slice.begin, width_of(slice));
  }

  const Reader& reader_;
  Vector token_, bos_;
  std::vector<Matrix> written_;  // by Reader::slices
  std::vector<OvTable> tables_;
};

std::string numbers_text(const Vector& columns) {
  std::string text;
  for (Eigen::Index i = 0; i < columns.size(); ++i) {
    text += (i > 0 ? ", " : "") + real_text(columns[i]);
  }
  return columns.size() == 1 ? text : "[" + text + "]";
}

}  // namespace

std::string_view name_of(HeadKind kind) {
  switch (kind) {
    case HeadKind::kMean:
      return "mean";
    case HeadKind::kSum:
      return "sum";
    case HeadKind::kShare:
      return "share";
    case HeadKind::kPattern:
      break;
  }
  return "pattern";
}

std::string_view name_of(Slice::Encoding encoding) {
  switch (encoding) {
    case Slice::Encoding::kOneHot:
      return "one-hot";
    case Slice::Encoding::kFeatures:
      return "features";
    case Slice::Encoding::kScalar:
      return "scalar";
    case Slice::Encoding::kFlag:
      break;
  }
  return "flag";
}

double logit_unit(const model::Model& model) {
  return model.dtype == model::Dtype::kF32 ? 256.0 : 2048.0;
}

NamedRows named_rows(const Slice& slice, std::size_t limit) {
  NamedRows rows;
  const bool by_features =
      slice.features.rows() == static_cast<Eigen::Index>(slice.values.size()) &&
      slice.features.cols() == width_of(slice);
  if (slice.values.empty()) {
    rows.labels = {"lowest " + real_text(slice.minimum), "highest " + real_text(slice.maximum)};
    rows.features = Matrix(2, 1);
    rows.features << slice.minimum, slice.maximum;
    return rows;
  }
  const std::size_t count = std::min(limit, slice.values.size());
  rows.left_out = slice.values.size() - count;
  rows.features = Matrix::Zero(static_cast<Eigen::Index>(count), width_of(slice));
  for (std::size_t i = 0; i < count; ++i) {
    rows.labels.push_back(value::repr(slice.values[i]));
    const auto row = static_cast<Eigen::Index>(i);
    if (by_features) {
      rows.features.row(row) = slice.features.row(row);
    } else if (const auto number = value::to_number(slice.values[i])) {
      rows.features.row(row).setConstant(number->to_double());
    }
  }
  return rows;
}

std::string meaning_of(const Slice& slice, const Vector& columns) {
  std::string text;
  std::size_t alike = 0;
  for (Eigen::Index i = 0; i < slice.features.rows(); ++i) {
    if (i >= static_cast<Eigen::Index>(slice.values.size())) break;
    if (slice.features.cols() != columns.size()) break;
    const Vector row = slice.features.row(i);
    if (!((row - columns).cwiseAbs().maxCoeff() <=
          kAlike * std::max(1.0, row.cwiseAbs().maxCoeff()))) {
      continue;
    }
    if (++alike <= kShownAlike) {
      text += (alike > 1 ? " | " : "") + value::repr(slice.values[static_cast<std::size_t>(i)]);
    }
  }
  if (alike > kShownAlike) text += " | ...";
  return alike > 0 ? text : numbers_text(columns);
}

HeadView view_head(const model::Model& model, std::size_t layer, std::size_t head,
                   std::size_t limit) {
  const model::Head& weights = model.layers[layer].heads[head];
  const Reader reader(model, static_cast<std::uint32_t>(2 * layer), limit);
  HeadView view;
  view.qk = QkBuilder(reader, weights).build();
  const double bos = bos_above_keys(view.qk);
  view.kind = kind_of(model, layer, head, bos);
  const double share = view.kind == HeadKind::kSum ? std::exp(-bos * logit_unit(model)) : 1.0;
  view.ov = OvBuilder(reader, weights, share).build();
  return view;
}

MlpView view_mlp(const model::Model& model, std::size_t layer) {
  const model::Mlp& mlp = model.layers[layer].mlp;
  MlpView view;
  view.units = static_cast<std::size_t>(mlp.b_in.size());
  if (view.units == 0) return view;  // a block of an empty matrix is a null pointer with an offset
  for (std::size_t s = 0; s < model.slices.size(); ++s) {
    const Slice& slice = model.slices[s];
    if (slice.encoding == Slice::Encoding::kFlag) continue;
    const auto index = static_cast<std::int32_t>(s);
    if (!is_zero(mlp.w_in.middleRows(slice.begin, width_of(slice)))) view.reads.push_back(index);
    if (!is_zero(mlp.w_out.middleCols(slice.begin, width_of(slice)))) view.writes.push_back(index);
  }
  return view;
}

}  // namespace rasp::visual
