// A fixed number of threads for loops whose rounds are independent. What a round computes must not
// depend on which worker runs it; then results do not depend on the number of threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace rasp::runtime {

class ThreadPool {
 public:
  explicit ThreadPool(std::size_t workers);  // 0: as many as the machine has
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  [[nodiscard]] std::size_t workers() const { return threads_.size() + 1; }

  // Runs rounds 0 .. count - 1, `grain` at a time, as body(worker, begin, end) for rounds [begin,
  // end) and a worker of 0 .. workers() - 1, the caller being worker 0; returns when all are done.
  // `body` must not throw. One loop at a time: callers on several threads must take turns.
  // Allocates nothing.
  template <typename Body>
  void parallel_for(std::size_t count, std::size_t grain, const Body& body) {
    run_loop(count, grain, &body,
             [](const void* of, std::size_t worker, std::size_t begin, std::size_t end) {
               (*static_cast<const Body*>(of))(worker, begin, end);
             });
  }

 private:
  using Call = void (*)(const void* body, std::size_t worker, std::size_t begin, std::size_t end);

  void run_loop(std::size_t count, std::size_t grain, const void* body, Call call);
  void work(std::size_t worker);
  void take_rounds(std::size_t worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable finished_;
  std::size_t generation_ = 0;  // counts loops, so that a thread joins each once
  std::size_t busy_ = 0;
  bool stop_ = false;

  // The loop that runs.
  const void* body_ = nullptr;
  Call call_ = nullptr;
  std::size_t count_ = 0;
  std::size_t grain_ = 1;
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace rasp::runtime
