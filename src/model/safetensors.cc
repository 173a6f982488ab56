#include "model/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "model/metadata.h"
#include "model/tensors.h"

namespace rasp::model {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 8;
constexpr const char* kMetadataKey = "__metadata__";

template <typename Tensor>
constexpr bool kIsVector = std::is_same_v<std::remove_const_t<Tensor>, Vector>;

std::size_t scalar_bytes(Dtype dtype) { return dtype == Dtype::kF32 ? 4 : 8; }
const char* scalar_name(Dtype dtype) { return dtype == Dtype::kF32 ? "F32" : "F64"; }

// One tensor's entry in the header.
struct Entry {
  std::vector<std::uint64_t> dims;
  std::uint64_t begin = 0;  // bytes, from the start of the data
  std::uint64_t end = 0;
};

std::string write_header(const Model& model) {
  std::string header =
      "{\"" + std::string(kMetadataKey) + "\":" + Json(write_metadata(model)).dump();
  std::uint64_t offset = 0;
  for_each_tensor(model, [&]<typename Tensor>(const std::string& name, const Tensor& tensor) {
    const std::uint64_t end =
        offset + static_cast<std::uint64_t>(tensor.size()) * scalar_bytes(model.dtype);
    Json shape = Json::array();
    if constexpr (!kIsVector<Tensor>) shape.push_back(tensor.rows());
    shape.push_back(tensor.cols());
    const Json entry = {{"dtype", scalar_name(model.dtype)},
                        {"shape", std::move(shape)},
                        {"data_offsets", Json::array({offset, end})}};
    header += ",\"" + name + "\":" + entry.dump();
    offset = end;
  });
  header += '}';
  header.append((kAlignment - header.size() % kAlignment) % kAlignment, ' ');
  return header;
}

template <typename Tensor>
void append_data(const Tensor& tensor, Dtype dtype, std::string& bytes) {
  const auto count = static_cast<std::size_t>(tensor.size());
  if (count == 0) return;
  const std::size_t start = bytes.size();
  bytes.resize(start + count * scalar_bytes(dtype));
  if (dtype == Dtype::kF64) {
    std::memcpy(bytes.data() + start, tensor.data(), count * sizeof(double));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto narrow = static_cast<float>(tensor.data()[i]);
    std::memcpy(bytes.data() + start + i * sizeof(float), &narrow, sizeof(float));
  }
}

template <typename Tensor>
void read_data(const char* source, Dtype dtype, Tensor& tensor) {
  const auto count = static_cast<std::size_t>(tensor.size());
  if (count == 0) return;
  if (dtype == Dtype::kF64) {
    std::memcpy(tensor.data(), source, count * sizeof(double));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    float narrow = 0;
    std::memcpy(&narrow, source + i * sizeof(float), sizeof(float));
    tensor.data()[i] = static_cast<double>(narrow);
  }
}

Result<std::vector<std::uint64_t>> read_sizes(const Json& json, const std::string& where) {
  std::vector<std::uint64_t> sizes;
  for (const Json& size : json) {
    if (!size.is_number_unsigned()) return bad_file(where + " is not a list of sizes");
    sizes.push_back(size.get<std::uint64_t>());
  }
  return sizes;
}

// The tensor's byte count by its shape, or nullopt when it exceeds `limit`.
std::optional<std::uint64_t> byte_count(const std::vector<std::uint64_t>& dims, Dtype dtype,
                                        std::uint64_t limit) {
  std::uint64_t bytes = scalar_bytes(dtype);
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  for (const std::uint64_t dim : dims) {
    if (dim > limit / bytes) return std::nullopt;
    bytes *= dim;
  }
  return bytes;
}

Result<Entry> read_entry(const Json& json, const std::string& name, std::size_t rank, Dtype dtype,
                         std::uint64_t data_size) {
  RASP_TRY(const Fields fields, Fields::of(json, 3, "the tensor " + name));
  RASP_TRY(const std::string scalar, fields.text("dtype"));
  if (scalar != scalar_name(dtype))
    return bad_file("the tensor " + name + " has the dtype \"" + scalar.substr(0, 20) +
                    "\", expected \"" + scalar_name(dtype) + "\"");
  Entry entry;
  RASP_TRY(const Json* shape, fields.array("shape"));
  RASP_TRY(entry.dims, read_sizes(*shape, "the shape of the tensor " + name));
  if (entry.dims.size() != rank)
    return bad_file("the tensor " + name + " has " + std::to_string(entry.dims.size()) +
                    " dimensions, expected " + std::to_string(rank));
  constexpr std::uint64_t kMostRows = std::numeric_limits<std::int32_t>::max();
  for (const std::uint64_t dim : entry.dims)
    if (dim > kMostRows)
      return bad_file("the tensor " + name + " has a dimension of " + std::to_string(dim));
  RASP_TRY(const Json* offsets, fields.array("data_offsets"));
  RASP_TRY(const auto range, read_sizes(*offsets, "the data offsets of the tensor " + name));
  if (range.size() != 2 || range[0] > range[1] || range[1] > data_size)
    return bad_file("the data offsets of the tensor " + name + " are not within the file's " +
                        std::to_string(data_size) + " bytes of data",
                    "the file may have been cut short: copy it again");
  entry.begin = range[0];
  entry.end = range[1];
  const auto expected = byte_count(entry.dims, dtype, data_size);
  if (!expected || *expected != entry.end - entry.begin)
    return bad_file("the tensor " + name + " has " + std::to_string(entry.end - entry.begin) +
                    " bytes of data, not what its shape asks for");
  return entry;
}

// Every byte of the data belongs to exactly one tensor.
Result<void> check_layout(std::vector<Entry> entries, std::uint64_t data_size) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t offset = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != offset)
      return bad_file("the data of the tensors " +
                      std::string(entry.begin < offset ? "overlaps" : "has a gap") + " at byte " +
                      std::to_string(std::min(entry.begin, offset)));
    offset = entry.end;
  }
  if (offset != data_size)
    return bad_file("the file has " + std::to_string(data_size - offset) +
                    " bytes of data that no tensor claims");
  return {};
}

// Fills the matrices of `model` from `data`; the header names exactly its tensors.
Result<void> read_tensors(const Json& header, const char* data, std::uint64_t data_size,
                          Model& model) {
  Result<void> status;
  std::vector<Entry> entries;
  for_each_tensor(model, [&]<typename Tensor>(const std::string& name, Tensor&) {
    if (!status) return;
    const auto found = header.find(name);
    if (found == header.end()) {
      status = bad_file("the file has no tensor " + name);
      return;
    }
    auto entry = read_entry(*found, name, kIsVector<Tensor> ? 1 : 2, model.dtype, data_size);
    if (entry) {
      entries.push_back(std::move(*entry));
    } else {
      status = tl::make_unexpected(std::move(entry).error());
    }
  });
  RASP_CHECK_OK(std::move(status));
  if (header.size() != entries.size() + 1)
    return bad_file("the file has " + std::to_string(header.size() - 1) +
                    " tensors; its configuration asks for " + std::to_string(entries.size()));
  RASP_CHECK_OK(check_layout(entries, data_size));

  std::size_t next = 0;
  for_each_tensor(model, [&]<typename Tensor>(const std::string&, Tensor& tensor) {
    const Entry& entry = entries[next++];
    if constexpr (kIsVector<Tensor>) {
      tensor.resize(static_cast<Eigen::Index>(entry.dims[0]));
    } else {
      tensor.resize(static_cast<Eigen::Index>(entry.dims[0]),
                    static_cast<Eigen::Index>(entry.dims[1]));
    }
    read_data(data + entry.begin, model.dtype, tensor);
  });
  return {};
}

}  // namespace

Result<std::string> serialise(const Model& model) {
  RASP_CHECK_OK(check(model));
  const std::string header = write_header(model);
  if (header.size() > kMaxHeaderBytes)
    return bad_file("the model's description takes " + std::to_string(header.size()) +
                        " bytes, the limit is " + std::to_string(kMaxHeaderBytes),
                    "compile for a shorter length or a smaller vocabulary");
  const std::uint64_t total =
      kLengthBytes + header.size() + std::uint64_t{model.parameters()} * scalar_bytes(model.dtype);
  if (total > kMaxFileBytes)
    return bad_file("the model takes " + std::to_string(total) + " bytes, the limit is 4 GiB",
                    "compile for a shorter length or a smaller vocabulary");
  std::string bytes;
  bytes.reserve(total);
  const std::uint64_t length = header.size();
  bytes.resize(kLengthBytes);
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes += header;
  for_each_tensor(model, [&](const std::string&, const auto& tensor) {
    append_data(tensor, model.dtype, bytes);
  });
  return bytes;
}

Result<Model> deserialise(const std::string& bytes) {
  const char* hint = "is this a model file? `rasp compile` writes them";
  if (bytes.size() < kLengthBytes)
    return bad_file(
        "the file has " + std::to_string(bytes.size()) + " bytes, too few for a model file", hint);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeaderBytes)
    return bad_file("the file's header would have " + std::to_string(length) +
                        " bytes, the limit is " + std::to_string(kMaxHeaderBytes),
                    hint);
  if (length > bytes.size() - kLengthBytes)
    return bad_file("the file's header should have " + std::to_string(length) +
                        " bytes, the file has " + std::to_string(bytes.size() - kLengthBytes),
                    "the file may have been cut short: copy it again");
  const auto text = std::string_view(bytes).substr(kLengthBytes, length);
  RASP_TRY(const Json header, parse_json(text, "the file's header"));
  if (!header.is_object()) return bad_file("the file's header is not a JSON object", hint);
  const auto metadata = header.find(kMetadataKey);
  if (metadata == header.end())
    return bad_file("the file has no metadata, so it is no model of this program", hint);
  RASP_TRY(Model model, read_metadata(*metadata, header.size()));
  const std::size_t data_start = kLengthBytes + static_cast<std::size_t>(length);
  RASP_CHECK_OK(read_tensors(header, bytes.data() + data_start, bytes.size() - data_start, model));
  RASP_CHECK_OK(check(model));
  return model;
}

}  // namespace rasp::model
