#include "visual/inspect.h"

#include <algorithm>

#include "base/utf8.h"
#include "value/atom.h"
#include "visual/text.h"

namespace rasp::visual {
namespace {

using Row = std::vector<std::string>;

std::string cut(const std::string& what, std::size_t left_out) {
  return left_out == 0 ? what : what + " ... (" + std::to_string(left_out) + " more)";
}

std::string atoms_text(const std::vector<value::Atom>& atoms, std::size_t limit) {
  std::string text;
  const std::size_t count = std::min(atoms.size(), limit);
  for (std::size_t i = 0; i < count; ++i) {
    text += (i > 0 ? ", " : "") + printable(value::repr(atoms[i]));
  }
  return cut(text, atoms.size() - count);
}

std::string header(const model::Model& model, const InspectOptions& options) {
  std::size_t heads = 0;
  std::size_t units = 0;
  for (const model::Layer& layer : model.layers) {
    heads += layer.heads.size();
    units += static_cast<std::size_t>(layer.mlp.b_in.size());
  }
  const auto& lines = model.certificate.lines;
  const auto tightest = std::ranges::min_element(lines, {}, &model::CertificateLine::margin);
  std::string text = printable(model.name) + "\n";
  text += "  vocabulary   " + atoms_text(model.vocabulary, options.max_values) + "\n";
  text += "  max length   " + counted(model.max_length, "token") + " and BOS\n";
  text += std::string("  arithmetic   ") +
          (model.dtype == model::Dtype::kF32 ? "float32" : "float64") +
          (model.causal ? ", causal" : "") + ", C = " + real_text(logit_unit(model)) + "\n";
  text += "  size         " + counted(model.layers.size(), "layer") + ", " +
          counted(heads, "head") + ", d_model " + std::to_string(model.d_model) + ", " +
          counted(units, "hidden unit") + ", " + counted(model.parameters(), "parameter") + "\n";
  text += std::string("  certificate  ") + (model.certificate.holds ? "holds" : "does NOT hold") +
          " (as the file says)";
  if (tightest != lines.end()) {
    text += ", smallest margin " + real_text(tightest->margin) + " in " + printable(tightest->part);
  }
  return text + "\n";
}

std::string step_text(std::uint32_t step) {
  if (step == 0) return "embedding";
  return "layer " + std::to_string((step - 1) / 2) + (step % 2 == 1 ? " attention" : " mlp");
}

std::string columns_text(const model::Slice& slice) {
  const std::string first = std::to_string(slice.begin);
  return slice.end - slice.begin == 1 ? first : first + "-" + std::to_string(slice.end - 1);
}

std::string values_text(const model::Slice& slice, const InspectOptions& options) {
  if (!slice.values.empty()) return atoms_text(slice.values, options.max_values);
  std::string text = real_text(slice.minimum) + " to " + real_text(slice.maximum);
  if (slice.error > 0) text += ", within " + real_text(slice.error);
  return text;
}

std::string slices(const model::Model& model, const InspectOptions& options) {
  std::vector<Row> rows{{"columns", "encoding", "written by", "name"}};
  for (const model::Slice& slice : model.slices) {
    std::string name = printable(slice.name);
    if (!slice.origin.empty()) name += " (" + printable(slice.origin) + ")";
    rows.push_back({columns_text(slice), std::string(name_of(slice.encoding)),
                    step_text(slice.first_step), name + ": " + values_text(slice, options)});
  }
  // Texts of any length come last, to the left.
  std::vector<std::size_t> widths(3);
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < 3; ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text = "residual stream, " + std::to_string(model.d_model) + " columns\n";
  for (const Row& row : rows) {
    text += "  ";
    for (std::size_t c = 0; c < 3; ++c) text += pad_right(row[c], widths[c] + 2);
    text += row[3] + "\n";
  }
  return text;
}

std::string slice_name(const model::Model& model, std::int32_t slice) {
  return slice == kAny ? "any token"
                       : printable(model.slices[static_cast<std::size_t>(slice)].name);
}

// 0 is what most cells are: a point keeps it out of the way.
std::string cell(double logit) { return logit == 0 ? "." : real_text(logit); }

std::string qk_text(const model::Model& model, const QkTable& qk) {
  std::string text = "    QK, " + slice_name(model, qk.query_slice) + " (query, rows) with " +
                     slice_name(model, qk.key_slice) + " (key), in units of C\n";
  std::vector<Row> rows{{""}};
  for (const std::string& label : qk.keys.labels) rows[0].push_back(printable(label));
  if (!qk.bos.empty()) rows[0].emplace_back("BOS");
  for (std::size_t q = 0; q < qk.queries.labels.size(); ++q) {
    Row row{printable(qk.queries.labels[q])};
    for (Eigen::Index k = 0; k < qk.logits.cols(); ++k) {
      row.push_back(cell(qk.logits(static_cast<Eigen::Index>(q), k)));
    }
    if (!qk.bos.empty()) row.push_back(cell(qk.bos[q]));
    rows.push_back(std::move(row));
  }
  text += table(rows, "      ");
  if (qk.queries.left_out + qk.keys.left_out > 0) {
    text += "      ... (" + std::to_string(qk.queries.left_out) + " more rows, " +
            std::to_string(qk.keys.left_out) + " more columns; --full shows them)\n";
  }
  return text;
}

std::string ov_text(const model::Model& model, const OvTable& ov) {
  std::string text = "    OV, " + slice_name(model, ov.key_slice) + " of a selected key gives " +
                     slice_name(model, ov.target_slice) + "\n";
  std::vector<Row> rows;
  for (std::size_t i = 0; i < ov.keys.labels.size(); ++i) {
    rows.push_back({printable(ov.keys.labels[i]), printable(ov.meaning[i])});
  }
  if (ov.keys.left_out > 0)
    rows.push_back({"...", "(" + std::to_string(ov.keys.left_out) + " more)"});
  rows.push_back({"BOS alone", printable(ov.when_bos)});
  return text + table(rows, "      ");
}

std::string names(const model::Model& model, const std::vector<std::int32_t>& slices) {
  std::string text;
  for (const std::int32_t slice : slices) {
    text += (text.empty() ? "" : ", ") + slice_name(model, slice);
  }
  return text.empty() ? "nothing" : text;
}

std::string head_text(const model::Model& model, std::size_t layer, std::size_t index,
                      const InspectOptions& options) {
  const model::Head& head = model.layers[layer].heads[index];
  const HeadView view = view_head(model, layer, index, options.max_values);
  std::string text = "  head " + std::to_string(index) + ": " + printable(head.name);
  if (!head.origin.empty()) text += " (" + printable(head.origin) + ")";
  if (layer < options.roles.size() && index < options.roles[layer].size() &&
      !options.roles[layer][index].empty())
    text += ", " + options.roles[layer][index] + " head";
  text += ", " + std::string(name_of(view.kind)) + ", d_qk " + std::to_string(head.wq.cols()) +
          ", d_v " + std::to_string(head.wv.cols()) + "\n";
  for (const QkTable& qk : view.qk) text += qk_text(model, qk);
  for (const OvTable& ov : view.ov) text += ov_text(model, ov);
  return text;
}

}  // namespace

std::string inspect_text(const model::Model& model, const InspectOptions& options) {
  std::string text = header(model, options) + slices(model, options);
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    text += "layer " + std::to_string(l) + "\n";
    for (std::size_t h = 0; h < model.layers[l].heads.size(); ++h) {
      text += head_text(model, l, h, options);
    }
    const MlpView mlp = view_mlp(model, l);
    if (mlp.units > 0) {
      text += "  mlp: " + counted(mlp.units, "unit") + "; reads " + names(model, mlp.reads) +
              "; writes " + names(model, mlp.writes) + "\n";
    }
  }
  return text;
}

}  // namespace rasp::visual
