#include "runtime/gpu/cache.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace rasp::runtime::gpu {
namespace {

namespace fs = std::filesystem;

// A file: the magic, the sizes of key and value, a checksum of both, key, value.
constexpr std::string_view kMagic = "raspkit cache 1\n";

std::uint64_t checksum(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : text) {  // FNV-1a
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

struct Header {
  std::uint64_t key = 0, value = 0, check = 0;
};

std::string home() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/raspkit";
  const char* user = std::getenv("HOME");
  if (user != nullptr && *user == '/') return std::string(user) + "/.cache/raspkit";
  return {};
}

}  // namespace

std::string cache_path(std::string_view key) {
  const std::string root = home();
  if (root.empty()) return {};
  std::ostringstream name;
  name << root << "/" << std::hex << checksum(key) << ".bin";
  return name.str();
}

std::optional<std::string> cached(std::string_view key) {
  const std::string path = cache_path(key);
  if (path.empty()) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Header header;
  const std::size_t start = kMagic.size() + sizeof header;
  if (text.size() < start || !text.starts_with(kMagic)) return std::nullopt;
  std::memcpy(&header, text.data() + kMagic.size(), sizeof header);
  if (header.key != key.size() || header.value != text.size() - start - key.size())
    return std::nullopt;
  const std::string_view rest = std::string_view(text).substr(start);
  if (!rest.starts_with(key) || header.check != checksum(rest)) return std::nullopt;
  return std::string(rest.substr(key.size()));
}

void cache(std::string_view key, std::string_view value) {
  const std::string path = cache_path(key);
  if (path.empty()) return;
  std::error_code problem;
  fs::create_directories(fs::path(path).parent_path(), problem);
  if (problem) return;
  const std::string temporary = path + "." + std::to_string(getpid());
  {
    std::ofstream file(temporary, std::ios::binary);
    const Header header{key.size(), value.size(), checksum(value, checksum(key))};
    file.write(kMagic.data(), static_cast<std::streamsize>(kMagic.size()));
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(key.data(), static_cast<std::streamsize>(key.size()));
    file.write(value.data(), static_cast<std::streamsize>(value.size()));
    if (!file.flush()) problem = std::make_error_code(std::errc::io_error);
  }
  if (!problem) fs::rename(temporary, path, problem);
  if (problem) fs::remove(temporary, problem);
}

}  // namespace rasp::runtime::gpu
