#include "runtime/thread_pool.h"

#include <algorithm>

namespace rasp::runtime {

ThreadPool::ThreadPool(std::size_t workers) {
  if (workers == 0) workers = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t worker = 1; worker < workers; ++worker)
    threads_.emplace_back([this, worker] { work(worker); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  started_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run_loop(std::size_t count, std::size_t grain, const void* body, Call call) {
  grain = std::max<std::size_t>(grain, 1);
  if (threads_.empty() || count <= grain) {
    if (count != 0) call(body, 0, 0, count);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    body_ = body;
    call_ = call;
    count_ = count;
    grain_ = grain;
    next_.store(0, std::memory_order_relaxed);
    busy_ = threads_.size();
    ++generation_;
  }
  started_.notify_all();
  take_rounds(0);
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadPool::take_rounds(std::size_t worker) {
  for (;;) {
    const std::size_t begin = next_.fetch_add(grain_, std::memory_order_relaxed);
    if (begin >= count_) return;
    call_(body_, worker, begin, std::min(count_, begin + grain_));
  }
}

void ThreadPool::work(std::size_t worker) {
  std::size_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    started_.wait(lock, [&] { return stop_ || generation_ != seen; });
    if (stop_) return;
    seen = generation_;
    lock.unlock();
    take_rounds(worker);
    lock.lock();
    if (--busy_ == 0) finished_.notify_one();
  }
}

}  // namespace rasp::runtime
