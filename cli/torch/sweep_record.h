#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "hewn/sweep/folder.h"
#include "hewn/sweep/lease.h"

namespace hewn::cli {

/// A sweep file and what it makes.
struct Sweep {
  sweep::Spec spec;
  std::vector<sweep::Run> runs;
};

Sweep read_sweep(const sweep::SweepFile& file, const sweep::Options& given);

/// The sweep of a folder as it was at its last start. What it was given on the command line is replaced by
/// `given`, key by key.
Sweep recorded_sweep(const sweep::Folder& folder, const sweep::Options& given = {});

/// Writes what the sweep is before the first run, so that it can be continued from any moment on. Throws
/// FormatError where the folder has another.
void begin(const Sweep& sweep, const sweep::Folder& folder, const sweep::Options& given,
           const std::string& text);

/// The same for one that others may join, or have. The first to come writes it; to the others it is what that
/// one wrote, so that all make the same tables. None where `stop` is not 0.
std::optional<Sweep> begin_together(const Sweep& sweep, const sweep::Folder& folder,
                                    const sweep::Options& given, const std::string& text,
                                    sweep::Leases& leases, const std::atomic<int>& stop);

}  // namespace hewn::cli
