// Reading and writing whole files, through POSIX: a fresh file must be created exclusively, and a
// failed write must be seen.
#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

namespace rasp {
namespace {

tl::unexpected<Diagnostic> bad_path(const std::string& path, const std::string& what,
                                    std::string hint = {}) {
  return fail(ErrorKind::kInput, {}, "\"" + path + "\" " + what, std::move(hint));
}

tl::unexpected<Diagnostic> failed(const std::string& path, const char* doing, int code) {
  return bad_path(path,
                  std::string("cannot be ") + doing + ": " + std::generic_category().message(code));
}

// Closes on every way out.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  // 0 or the error: some file systems report a full disk only now.
  [[nodiscard]] int close() {
    const int status = ::close(descriptor_);
    descriptor_ = -1;
    return status == 0 ? 0 : errno;
  }

 private:
  int descriptor_;
};

// 0 or the error.
int write_piece(int descriptor, std::string_view bytes) {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        ::write(descriptor, bytes.data() + done, std::min(bytes.size() - done, kMostAtOnce));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    done += static_cast<std::size_t>(count);
  }
  return 0;
}

int write_all(int descriptor, std::span<const std::string_view> pieces) {
  int code = 0;
  for (std::size_t i = 0; i < pieces.size() && code == 0; ++i)
    code = write_piece(descriptor, pieces[i]);
  return code;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  constexpr std::uint64_t kGiB = kMiB << 10;
  if (bytes % kGiB == 0) return std::to_string(bytes / kGiB) + " GiB";
  if (bytes % kMiB == 0) return std::to_string(bytes / kMiB) + " MiB";
  return std::to_string(bytes) + " bytes";
}

Result<void> write_in_place(std::span<const std::string_view> pieces, const std::string& path) {
  File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return failed(path, "written", errno);
  if (const int code = write_all(file.descriptor(), pieces)) return failed(path, "written", code);
  if (const int code = file.close()) return failed(path, "written", code);
  return {};
}

Result<void> replace_file(std::span<const std::string_view> pieces, const std::string& path) {
  constexpr int kAttempts = 100;
  std::string temporary;
  int descriptor = -1;
  for (int attempt = 0; attempt < kAttempts && descriptor < 0; ++attempt) {
    temporary = path + ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) return failed(path, "written", errno);
  }
  File file(descriptor);
  if (!file.is_open()) return failed(path, "written", EEXIST);
  int code = write_all(file.descriptor(), pieces);
  if (const int closing = file.close(); code == 0) code = closing;
  if (code == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) code = errno;
  if (code == 0) return {};
  ::unlink(temporary.c_str());
  return failed(path, "written", code);
}

}  // namespace

Result<std::string> read_regular_file(const std::string& path, std::uint64_t limit,
                                      std::string_view what) {
  // Without O_NONBLOCK a named pipe that nobody writes to would hang the program here.
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return failed(path, "read", errno);
  struct stat info = {};
  if (::fstat(file.descriptor(), &info) != 0) return failed(path, "read", errno);
  if (S_ISDIR(info.st_mode)) return bad_path(path, "is a directory");
  if (!S_ISREG(info.st_mode)) return bad_path(path, "is not a regular file");
  if (static_cast<std::uint64_t>(info.st_size) > limit)
    return bad_path(path,
                    "is larger than " + std::string(what) + " can be (" + size_text(limit) + ")");
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::read(file.descriptor(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(path, "read", errno);
    if (count == 0) break;  // it shrank since fstat
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

Result<void> write_whole_file(const std::string& path, std::span<const std::string_view> pieces) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) return bad_path(path, "is a directory");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return write_in_place(pieces, path);
  // Through a symbolic link the file behind it is replaced, not the link.
  std::string target = path;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, ignored))) {
    const auto real = std::filesystem::weakly_canonical(path, ignored);
    if (!real.empty()) target = real.string();
  }
  return replace_file(pieces, target);
}

}  // namespace rasp
