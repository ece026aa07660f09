#pragma once

#include <atomic>
#include <vector>

#include "hewn/sweep/lease.h"
#include "hewn/sweep/queue.h"
#include "hewn/sweep/results.h"

namespace hewn::sweep {

/// Whoever writes the tables of a sweep that others have joined holds it.
inline constexpr const char* kTablesLease = "tables";

/// Like work, together with others that do the same in this folder, here or on other machines: what is run is
/// held by a lease, and runs whose holder fell silent are resumed. True when all have ended; false when it
/// was stopped, or when others still work and the options say not to wait.
bool work_together(const Folder& folder, Leases& leases, const std::vector<Run>& runs,
                   const QueueOptions& options, Watcher& watcher, const std::atomic<int>& stop);

/// Moves failed runs back that nobody holds.
void take_back_failed(const Folder& folder, Leases& leases, const std::vector<Run>& runs);

/// What has become of the runs. Where all have ended, the tables in the folder say it afterwards, whoever
/// wrote them; one process at a time does.
Results publish(const Spec& spec, const std::vector<Run>& runs, const Folder& folder, Leases& leases,
                const std::atomic<int>& stop);

}  // namespace hewn::sweep
