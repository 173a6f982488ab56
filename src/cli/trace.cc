#include "cli/trace.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/utf8.h"
#include "cli/format.h"
#include "cli/json.h"
#include "visual/text.h"

namespace rasp::cli {

using visual::pad_left;
namespace {

std::string real_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

// The stream after this many whole layers is the first that the trace has of the slice.
std::size_t first_stream(const model::Slice& slice) { return (slice.first_step + 1) / 2; }

// The index of the value that the columns encode at a position, or -1.
Eigen::Index value_at(const model::Slice& slice, const model::Matrix& stream, Eigen::Index row) {
  const auto columns = stream.row(row).segment(slice.begin, slice.end - slice.begin);
  for (Eigen::Index i = 0; i < slice.features.rows(); ++i) {
    if (slice.features.cols() == columns.cols() && slice.features.row(i) == columns) return i;
  }
  return -1;
}

// What a slice holds at each token: its values where it is categorical, numbers elsewhere.
template <typename OfAtom, typename OfReal>
std::vector<std::string> slice_values(const model::Slice& slice, const model::Matrix& stream,
                                      const OfAtom& of_atom, const OfReal& of_real) {
  std::vector<std::string> texts;
  for (Eigen::Index row = 1; row < stream.rows(); ++row) {
    const Eigen::Index known = value_at(slice, stream, row);
    if (known >= 0 && known < static_cast<Eigen::Index>(slice.values.size())) {
      texts.push_back(of_atom(slice.values[static_cast<std::size_t>(known)]));
      continue;
    }
    std::string text;
    for (std::uint32_t column = slice.begin; column < slice.end; ++column) {
      if (!text.empty()) text += ", ";
      text += of_real(stream(row, column));
    }
    texts.push_back(slice.end - slice.begin == 1 ? text : "[" + text + "]");
  }
  return texts;
}

std::string slices_text(const model::Model& model, const model::Matrix& stream,
                        std::size_t layers_done) {
  std::string text;
  for (const model::Slice& slice : model.slices) {
    if (first_stream(slice) != layers_done) continue;
    text += "    " + printable(slice.name) + " = [";
    const auto values = slice_values(
        slice, stream, [](const value::Atom& atom) { return printable(value::brief(atom)); },
        real_text);
    for (std::size_t i = 0; i < values.size(); ++i) text += (i > 0 ? ", " : "") + values[i];
    text += "]\n";
  }
  return text;
}

std::string attention_text(const model::Head& head, const Example& input,
                           const model::Matrix& attention) {
  std::vector<std::string> labels{"BOS"};
  for (const value::Atom& atom : input.tokens) labels.push_back(printable(value::brief(atom)));
  const auto count = static_cast<std::size_t>(
      std::min<Eigen::Index>(attention.rows(), static_cast<Eigen::Index>(kMaxGrid)));
  std::vector<std::vector<std::string>> cells(count);
  std::vector<std::size_t> widths(count, 1);
  std::size_t label_width = 1;
  for (std::size_t query = 0; query < count; ++query) {
    label_width = std::max(label_width, display_width(labels[query]));
    for (std::size_t key = 0; key < count; ++key) {
      const double weight =
          attention(static_cast<Eigen::Index>(query), static_cast<Eigen::Index>(key));
      cells[query].push_back(weight == 0 ? "" : real_text(weight));
      widths[key] = std::max({widths[key], display_width(labels[key]), cells[query][key].size()});
    }
  }
  std::string text = "    head " + printable(head.name);
  if (!head.origin.empty()) text += " (" + printable(head.origin) + ")";
  text += "\n      " + std::string(label_width + 2, ' ');
  for (std::size_t key = 0; key < count; ++key) text += " " + pad_left(labels[key], widths[key]);
  text += "\n";
  for (std::size_t query = 0; query < count; ++query) {
    std::string line = "      " + pad_left(labels[query], label_width) + " |";
    for (std::size_t key = 0; key < count; ++key) {
      line += " " + pad_left(cells[query][key], widths[key]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (count < labels.size()) text += "      " + more(labels.size() - count) + "\n";
  return text;
}

std::string slices_json(const model::Model& model, const model::Matrix& stream,
                        std::size_t layers_done) {
  std::string text = "[";
  for (const model::Slice& slice : model.slices) {
    if (first_stream(slice) != layers_done) continue;
    if (text.size() > 1) text += ", ";
    text += JsonObject()
                .text("name", slice.name)
                .add("values", json_list(slice_values(slice, stream, json_atom, json_real),
                                         [](const std::string& json) { return json; }))
                .str();
  }
  return text + "]";
}

}  // namespace

std::string trace_text(const model::Model& model, const Example& input,
                       const runtime::Trace& trace) {
  std::string text = "  embedding\n" + slices_text(model, trace.residual.front(), 0);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    text += "  layer " + std::to_string(i) + "\n";
    for (std::size_t j = 0; j < model.layers[i].heads.size(); ++j) {
      text += attention_text(model.layers[i].heads[j], input, trace.attention[i][j]);
    }
    text += slices_text(model, trace.residual[i + 1], i + 1);
  }
  return text;
}

std::string trace_json(const model::Model& model, const runtime::Trace& trace) {
  std::string layers = JsonObject()
                           .add("heads", "[]")
                           .add("slices", slices_json(model, trace.residual.front(), 0))
                           .str();
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    std::string heads = "[";
    for (std::size_t j = 0; j < model.layers[i].heads.size(); ++j) {
      const model::Head& head = model.layers[i].heads[j];
      if (j > 0) heads += ", ";
      heads += JsonObject()
                   .text("name", head.name)
                   .text("origin", head.origin)
                   .add("attention", json_matrix(trace.attention[i][j]))
                   .str();
    }
    layers += ", " + JsonObject()
                         .add("heads", heads + "]")
                         .add("slices", slices_json(model, trace.residual[i + 1], i + 1))
                         .str();
  }
  return JsonObject().add("layers", "[" + layers + "]").str();
}

}  // namespace rasp::cli
