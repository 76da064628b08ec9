#ifndef QUEUE_HPP
#define QUEUE_HPP
/// \file
/// A queue for one producer and many consumers.

#include <atomic>

namespace work {

/// Work to be done.
class QUEUE_API Queue : public Base {
 public:
  /// Makes a queue.
  /// \param size of how many places
  explicit Queue(std::size_t size);
  Queue(Queue&&) noexcept = default;

  template <class... Args>
  bool emplace(Args&&... args) noexcept(noexcept(T(args...)));

  bool try_pop(Job& job);
  std::size_t size() const { return size_.load(); }
  static Queue& shared();

 private:
  std::atomic<std::size_t> size_;
#ifdef QUEUE_TRACE
  void trace(const char* text);
#endif
};

union Slot {
  Job job;
  char raw[64];
};

enum Mode { kFifo, kLifo };

template <>
struct hash<Job> {
  std::size_t operator()(const Job& job) const;
};

}  // namespace work

#endif
