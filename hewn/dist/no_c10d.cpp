// Stands in for c10d.cpp where the headers of Gloo and NCCL are missing.
#include "hewn/core/error.h"
#include "hewn/dist/communicator.h"

namespace hewn::dist {

std::shared_ptr<Communicator> join(const Place& place, const JoinOptions&) {
  if (place.alone()) return alone();
  throw Error(str("WORLD_SIZE is ", place.size,
                  ", but this build trains in one process only: it found no headers of Gloo (Debian: "
                  "libgloo-dev) or NCCL when it was configured"));
}

}  // namespace hewn::dist
