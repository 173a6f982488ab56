#include "cli/line_editor.h"

#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <filesystem>

namespace rasp::cli {
namespace {

constexpr int kHistoryLines = 2000;
constexpr std::size_t kMaxLine = std::size_t{64} << 20;
constexpr std::size_t kMaxListed = 200;  // completions shown at once

// Where the history is kept, "" when there is no place for it.
std::string history_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') {
    const std::filesystem::path folder = std::filesystem::path(state) / "rasp";
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    return problem ? "" : (folder / "history").string();
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.rasp_history" : "";
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':';
}

constexpr auto kInvalid = static_cast<std::size_t>(-1);  // of mbrtowc
constexpr auto kIncomplete = static_cast<std::size_t>(-2);

std::size_t decode(wchar_t* character, const char* bytes, std::size_t count) {
  std::mbstate_t fresh = {};
  return std::mbrtowc(character, bytes, count, &fresh);
}

enum class Wait : std::uint8_t { kReady, kNothingYet, kInterrupted };

// Until there is something to read; not at all without `patient`. Ctrl-C can only come while the
// wait sleeps, never between looking at the flag and falling asleep.
Wait wait_for_input(const std::atomic<bool>& interrupted, bool patient) {
  sigset_t interrupt;
  sigset_t before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  const timespec now = {};
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  int ready = 0;
  while (!interrupted.load()) {
    ready = ppoll(&input, 1, patient ? nullptr : &now, &before);
    if (ready >= 0 || errno != EINTR) break;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (interrupted.load()) return Wait::kInterrupted;
  return ready == 0 ? Wait::kNothingYet : Wait::kReady;
}

}  // namespace

std::vector<std::string> matching(std::string_view word, std::vector<std::string> candidates) {
  std::erase_if(candidates, [word](const std::string& name) { return !name.starts_with(word); });
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

std::string common_prefix(const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "";
  std::string prefix = candidates.front();
  for (const std::string& name : candidates) {
    const auto [end, other] = std::mismatch(prefix.begin(), prefix.end(), name.begin(), name.end());
    prefix.erase(end, prefix.end());
  }
  return prefix;
}

struct LineEditor::State {
  Complete complete;
  bool colour = false;
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string prompt;
  std::string history_file;
  const std::atomic<bool>* interrupted = nullptr;
  bool typed_ahead = false;  // what is read was there before the prompt

  static State* of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return static_cast<State*>(data);
  }

  static char* prompt_of(EditLine* editor) { return of(editor)->prompt.data(); }

  // The next character for libedit: 1, 0 at the end, -1 where Ctrl-C ends the line. Bytes that are
  // no character are dropped.
  static int read_character(EditLine* editor, wchar_t* character) {
    State& state = *of(editor);
    char bytes[MB_LEN_MAX];
    std::size_t count = 0;
    while (true) {
      Wait wait = wait_for_input(*state.interrupted, !state.typed_ahead);
      if (wait == Wait::kNothingYet) {
        state.typed_ahead = false;
        wait = wait_for_input(*state.interrupted, true);
      }
      if (wait == Wait::kInterrupted) {
        errno = EINTR;
        return -1;
      }
      const ssize_t got = ::read(STDIN_FILENO, bytes + count, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return static_cast<int>(got);
      ++count;
      std::size_t used = decode(character, bytes, count);
      if (used == kInvalid && count > 1) {  // the last byte may begin the next character
        bytes[0] = bytes[count - 1];
        count = 1;
        used = decode(character, bytes, count);
      }
      if (used == kInvalid) count = 0;
      if (used == kInvalid || used == kIncomplete) continue;
      // A Ctrl-D that was typed before the terminal was in libedit's mode is kept as a NUL.
      if (*character == L'\0' && state.typed_ahead) *character = L'\x04';
      return 1;
    }
  }

  static unsigned char on_tab(EditLine* editor, int) {
    const LineInfo* line = el_line(editor);
    const char* start = line->cursor;
    while (start > line->buffer && is_word(start[-1])) --start;
    const std::string_view word(start, static_cast<std::size_t>(line->cursor - start));
    const bool first = std::all_of(line->buffer, start, [](char c) { return c == ' '; });
    const std::vector<std::string> names = of(editor)->complete(word, first);
    if (names.empty()) return CC_REFRESH_BEEP;
    const std::string prefix = common_prefix(names);
    if (prefix.size() > word.size()) {
      return el_insertstr(editor, prefix.c_str() + word.size()) == 0 ? CC_REFRESH : CC_ERROR;
    }
    if (names.size() == 1) return CC_REFRESH;
    std::string text = "\n";
    for (std::size_t i = 0; i < names.size() && i < kMaxListed; ++i) text += names[i] + "  ";
    static_cast<void>(std::fputs((text + "\n").c_str(), stdout));
    return CC_REDISPLAY;
  }
};

LineEditor::LineEditor(Complete complete, bool colour, const std::atomic<bool>& interrupted)
    : state_(std::make_unique<State>()) {
  state_->interrupted = &interrupted;
  state_->complete = std::move(complete);
  state_->colour = colour;
  // libedit reads characters as the locale has them; a C locale would break UTF-8.
  if (std::setlocale(LC_CTYPE, "") == nullptr || std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) {
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
  state_->history = history_init();
  HistEvent event;
  history(state_->history, &event, H_SETSIZE, kHistoryLines);
  history(state_->history, &event, H_SETUNIQUE, 1);
  state_->history_file = history_path();
  if (!state_->history_file.empty()) {
    history(state_->history, &event, H_LOAD, state_->history_file.c_str());
  }
  EditLine* editor = el_init("rasp", stdin, stdout, stderr);
  state_->editor = editor;
  el_set(editor, EL_CLIENTDATA, state_.get());
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_HIST, history, state_->history);
  el_set(editor, EL_GETCFN, State::read_character);
  el_set(editor, EL_PROMPT_ESC, State::prompt_of, '\1');
  el_set(editor, EL_ADDFN, "rasp-complete", "complete a name", State::on_tab);
  el_set(editor, EL_BIND, "^I", "rasp-complete", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(editor, nullptr);  // the user's ~/.editrc
}

LineEditor::~LineEditor() {
  HistEvent event;
  if (!state_->history_file.empty()) {
    const auto mask = umask(0077);
    history(state_->history, &event, H_SAVE, state_->history_file.c_str());
    umask(mask);
  }
  el_end(state_->editor);
  history_end(state_->history);
}

ReadStatus LineEditor::read(std::string_view prompt, std::string& line) {
  state_->prompt =
      state_->colour ? "\1\033[32m\1" + std::string(prompt) + "\1\033[0m\1" : std::string(prompt);
  state_->typed_ahead = true;
  int count = 0;
  const char* text = el_gets(state_->editor, &count);
  if (state_->interrupted->load()) {
    // The signal ended the read; the terminal shows the line that is dropped.
    static_cast<void>(std::fputs("^C\n", stdout));
    el_reset(state_->editor);
    return ReadStatus::kInterrupted;
  }
  if (text == nullptr || count <= 0) return ReadStatus::kEnd;
  line.assign(text, static_cast<std::size_t>(count));
  if (line.find_first_not_of(" \t\r\n") != std::string::npos) {
    HistEvent event;
    history(state_->history, &event, H_ENTER, line.c_str());
  }
  if (line.ends_with('\n')) line.pop_back();
  return ReadStatus::kLine;
}

ReadStatus PipeReader::read(std::string& line) {
  std::size_t scanned = at_;
  while (true) {
    const std::size_t end = buffer_.find('\n', scanned);
    if (end != std::string::npos || (ended_ && at_ < buffer_.size())) {
      line = buffer_.substr(at_, end == std::string::npos ? end : end - at_);
      at_ = end == std::string::npos ? buffer_.size() : end + 1;
      if (line.ends_with('\r')) line.pop_back();
      return ReadStatus::kLine;
    }
    if (ended_) return ReadStatus::kEnd;
    buffer_.erase(0, at_);
    at_ = 0;
    scanned = buffer_.size();
    if (scanned > kMaxLine) return ReadStatus::kTooLong;
    char block[1 << 16];
    const ssize_t count = ::read(STDIN_FILENO, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      ended_ = true;
    } else {
      buffer_.append(block, static_cast<std::size_t>(count));
    }
  }
}

}  // namespace rasp::cli
