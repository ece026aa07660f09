#pragma once

#include <cstdint>
#include <string>

namespace hewn::dist {

/// Where this process stands among those that train together.
struct Place {
  int64_t rank = 0;
  int64_t size = 1;
  int64_t local_rank = 0;  // among those on this machine
  int64_t local_size = 1;
  std::string address = "127.0.0.1";  // where rank 0 can be reached
  int64_t port = 0;
  bool store_is_up = false;  // a launcher serves the store there; else rank 0 does

  bool alone() const { return size == 1; }
  bool first() const { return rank == 0; }
};

/// From the variables that torchrun, Slurm scripts and Kubernetes' PyTorchJob set: WORLD_SIZE, RANK,
/// LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT. Alone where WORLD_SIZE is not set. Throws Error
/// for one that is missing or makes no sense.
Place place_from_environment();

/// A port of this machine that is free now, for processes that will meet there.
int64_t free_port();

}  // namespace hewn::dist
