// A fixed number of threads for loops whose rounds are independent. What a round computes must not
// depend on which worker runs it; then results do not depend on the number of threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rasp::runtime {

class ThreadPool {
 public:
  // Round numbers [begin, end) for worker 0 .. workers() - 1; must not throw.
  using Body = std::function<void(std::size_t worker, std::size_t begin, std::size_t end)>;

  explicit ThreadPool(std::size_t workers);  // 0: as many as the machine has
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  [[nodiscard]] std::size_t workers() const { return threads_.size() + 1; }

  // Runs rounds 0 .. count - 1, `grain` at a time, the caller being worker 0; returns when all are
  // done. One loop at a time: callers on several threads must take turns.
  void parallel_for(std::size_t count, std::size_t grain, const Body& body);

 private:
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
  const Body* body_ = nullptr;
  std::size_t count_ = 0;
  std::size_t grain_ = 1;
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace rasp::runtime
