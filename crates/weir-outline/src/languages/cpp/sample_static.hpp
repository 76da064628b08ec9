#pragma once

namespace limits {

static constexpr int kMost = 8;

static inline int clamp(int value) { return value < kMost ? value : kMost; }

class Gate {
  int open_;
};

}  // namespace limits
