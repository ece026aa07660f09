#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cli/command.h"

namespace hewn::cli {

struct SweepFields {
  std::string file;
  std::string size;
  std::string out;
  std::string results;
  std::string data;
  std::string device = "cpu";
  int64_t workers = 1;
  int64_t threads = 0;
  bool join = false;
  int64_t patience = 60;
  bool wait = true;
  bool retry = false;
  bool dry_run = false;
  bool quiet = false;
  bool json = false;
};

/// What is given on the command line in place of the file's own.
std::map<std::string, std::string> sweep_given(const Given& all);

/// Needs LibTorch.
int run_sweep(SweepFields& fields, const Given& given);

}  // namespace hewn::cli
