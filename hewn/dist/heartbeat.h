#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hewn/dist/place.h"

namespace hewn::dist {

/// Lets processes find out which of them is gone: each raises a counter in the store every half second.
class Heartbeat {
 public:
  explicit Heartbeat(const Place& place);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// Called when work with the others failed: the ranks that have stopped. Takes some seconds. Others that
  /// ask the same are not taken for lost, and hear the answer even where they notice nothing themselves.
  std::vector<int64_t> find_lost();

 private:
  class Pulse;
  std::shared_ptr<Pulse> pulse_;
};

}  // namespace hewn::dist
