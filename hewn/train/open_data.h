#pragma once

#include <c10/core/Device.h>

#include <memory>

#include "hewn/data/source.h"
#include "hewn/dist/place.h"
#include "hewn/run/folder.h"
#include "hewn/run/observer.h"
#include "hewn/run/options.h"

namespace hewn::train {

/// How the data of a run are read. Sources report to the observer, which must outlive them.
data::DataOptions data_options(const run::Options& options, c10::Device device, const dist::Place& place,
                               run::Observer& observer);

/// The data of a run, for one of its processes.
std::unique_ptr<data::Source> open_data(const run::Options& options, c10::Device device,
                                        const dist::Place& place, run::Observer& observer);

/// Throws Error where the table or text of a run is another than when the run was started: it would be
/// divided and encoded in another way.
void check_unchanged(const run::Folder& run, const data::Source& source);

}  // namespace hewn::train
