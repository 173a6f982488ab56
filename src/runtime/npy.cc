#include "runtime/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "base/files.h"
#include "base/utf8.h"

namespace rasp::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read as they are");

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr std::size_t kMaxHeader = 1 << 16;
constexpr std::size_t kMaxDimensions = 32;  // NumPy's own limit for long
constexpr std::size_t kAlignment = 64;

tl::unexpected<Diagnostic> refuse(const std::string& what, std::string hint = {}) {
  return fail(ErrorKind::kInput, {}, "no usable NumPy array: " + what, std::move(hint));
}

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

// Reads the one dictionary literal that a header is: three keys in any order, whose values are a
// string, a truth value and a tuple of whole numbers.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  Result<Header> read() {
    Header header;
    bool descr = false;
    bool order = false;
    bool shape = false;
    RASP_CHECK_OK(expect('{'));
    while (!take('}')) {
      RASP_TRY(const std::string key, string());
      RASP_CHECK_OK(expect(':'));
      bool& seen = key == "descr" ? descr : key == "fortran_order" ? order : shape;
      if (seen || (&seen == &shape && key != "shape"))
        return refuse("its header has the key '" + printable(key) + "' that is unknown or there " +
                      "already");
      seen = true;
      if (key == "descr") {
        RASP_TRY(header.descr, descr_value());
      } else if (key == "fortran_order") {
        RASP_TRY(header.fortran_order, truth());
      } else {
        RASP_TRY(header.shape, tuple());
      }
      if (!take(',') && peek() != '}') return unexpected("',' or '}'");
    }
    skip_blanks();
    if (at_ != text_.size()) return unexpected("the end of the header");
    if (!descr || !order || !shape)
      return refuse("its header lacks 'descr', 'fortran_order' or 'shape'");
    return header;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] tl::unexpected<Diagnostic> unexpected(const std::string& wanted) const {
    const std::string found =
        at_ < text_.size() ? "'" + printable(text_.substr(at_, 12)) + "'" : std::string("its end");
    return refuse("its header has " + found + " where " + wanted + " was expected");
  }
  Result<void> expect(char c) {
    if (take(c)) return {};
    return unexpected("'" + std::string(1, c) + "'");
  }

  Result<std::string> string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return unexpected("a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return unexpected("a string that is closed");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  Result<std::string> descr_value() {
    if (peek() == '[')
      return refuse("it has several fields", "save an array of float32 or float64");
    return string();
  }

  Result<bool> truth() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    return unexpected("True or False");
  }

  Result<std::vector<std::size_t>> tuple() {
    std::vector<std::size_t> values;
    RASP_CHECK_OK(expect('('));
    while (!take(')')) {
      RASP_TRY(const std::size_t value, number());
      values.push_back(value);
      if (values.size() > kMaxDimensions) return refuse("it has more than 32 dimensions");
      if (!take(',') && peek() != ')') return unexpected("',' or ')'");
    }
    return values;
  }

  Result<std::size_t> number() {
    constexpr std::size_t kMost = std::size_t{1} << 48;
    std::size_t value = 0;
    if (peek() < '0' || peek() > '9') return unexpected("a whole number");
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = value * 10 + static_cast<std::size_t>(text_[at_++] - '0');
      if (value > kMost) return refuse("a size in its shape is larger than any array");
    }
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<NpyType> type_of(std::string_view descr) {
  if (descr == "<f4" || descr == "=f4") return NpyType::kFloat32;
  if (descr == "<f8" || descr == "=f8") return NpyType::kFloat64;
  if (descr == "|b1" || descr == "<b1") return NpyType::kBool;
  if (descr == "|u1" || descr == "<u1") return NpyType::kUint8;
  return std::nullopt;
}

// The position of the data, and the header's text.
struct Prefix {
  std::size_t data = 0;
  std::string_view header;
};

Result<Prefix> prefix_of(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + 4 || !bytes.starts_with(kMagic))
    return refuse("it does not begin as one", "numpy.save(\"x.npy\", x) writes one");
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned major = byte(6);
  if (major < 1 || major > 3)
    return refuse("it has format version " + std::to_string(major) + ", expected 1, 2 or 3");
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = kMagic.size() + 2 + length_bytes;
  if (bytes.size() < begin) return refuse("it ends in its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= std::size_t{byte(8 + i)} << (8 * i);
  if (length > kMaxHeader || length > bytes.size() - begin)
    return refuse("its header of " + std::to_string(length) + " bytes is longer than " +
                  (length > kMaxHeader ? std::to_string(kMaxHeader) : "the file"));
  return Prefix{begin + length, bytes.substr(begin, length)};
}

// Of an array, at most kMaxNpyBytes + 1, which stands for more.
std::size_t bytes_of(NpyType type, const std::vector<std::size_t>& shape) {
  if (std::ranges::find(shape, 0U) != shape.end()) return 0;
  std::size_t bytes = size_of(type);
  for (const std::size_t size : shape) {
    if (size > kMaxNpyBytes / bytes) return kMaxNpyBytes + 1;
    bytes *= size;
  }
  return bytes;
}

// Entries in C order, of data where the first index moves fastest.
std::string reordered(std::string_view data, const std::vector<std::size_t>& shape,
                      std::size_t item) {
  std::string result(data.size(), '\0');
  std::vector<std::size_t> index(shape.size(), 0);
  std::vector<std::size_t> strides(shape.size(), item);  // in the data
  for (std::size_t i = 1; i < shape.size(); ++i) strides[i] = strides[i - 1] * shape[i - 1];
  std::size_t from = 0;
  for (std::size_t to = 0; to < result.size(); to += item) {
    std::memcpy(result.data() + to, data.data() + from, item);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

}  // namespace

std::string_view name_of(NpyType type) {
  constexpr std::array<std::string_view, 4> kNames = {"float32", "float64", "bool", "uint8"};
  return kNames[static_cast<std::size_t>(type)];
}

std::size_t size_of(NpyType type) {
  constexpr std::array<std::size_t, 4> kSizes = {4, 8, 1, 1};
  return kSizes[static_cast<std::size_t>(type)];
}

std::size_t NpyArray::size() const { return data.size() / size_of(type); }

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Result<NpyArray> parse_npy(std::string bytes) {
  RASP_TRY(const Prefix prefix, prefix_of(bytes));
  RASP_TRY(Header header, HeaderReader(prefix.header).read());
  const auto type = type_of(header.descr);
  if (!type)
    return refuse("its entries are '" + printable(header.descr) +
                      "', expected little-endian float32 or float64, bool or uint8",
                  "x.astype(\"<f4\") converts");
  const std::size_t there = bytes.size() - prefix.data;
  const std::size_t wanted = bytes_of(*type, header.shape);
  if (wanted != there)
    return refuse("shape " + shape_text(header.shape) + " of " + std::string(name_of(*type)) +
                  " needs " +
                  (wanted > kMaxNpyBytes ? "over 16 GiB" : std::to_string(wanted) + " bytes") +
                  ", but " + std::to_string(there) + " follow the header");
  NpyArray array{*type, std::move(header.shape), std::move(bytes)};
  // Moved to the front: a string's memory is aligned for doubles, whatever the header's length.
  array.data.erase(0, prefix.data);
  if (header.fortran_order && array.shape.size() > 1)
    array.data = reordered(array.data, array.shape, size_of(*type));
  return array;
}

Result<NpyArray> load_npy(const std::string& path, std::uint64_t limit) {
  RASP_TRY(std::string bytes, read_regular_file(path, limit, "an array"));
  auto array = parse_npy(std::move(bytes));
  if (!array) array.error().message = "\"" + path + "\": " + array.error().message;
  return array;
}

Result<void> save_npy(const std::string& path, NpyType type, const std::vector<std::size_t>& shape,
                      const void* data) {
  constexpr std::array<std::string_view, 4> kDescr = {"<f4", "<f8", "|b1", "|u1"};
  std::string header = "{'descr': '" + std::string(kDescr[static_cast<std::size_t>(type)]) +
                       "', 'fortran_order': False, 'shape': (";
  std::size_t bytes = size_of(type);
  for (const std::size_t size : shape) {
    header += std::to_string(size) + ",";
    bytes *= size;
  }
  header += "), }";
  const std::size_t begin = kMagic.size() + 4;
  while ((begin + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  std::string prefix(kMagic);
  prefix += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
             static_cast<char>(header.size() >> 8)};
  prefix += header;
  const std::array<std::string_view, 2> pieces = {
      prefix, std::string_view(static_cast<const char*>(data), bytes)};
  return write_whole_file(path, pieces);
}

}  // namespace rasp::runtime
