#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "hewn/run/observer.h"
#include "hewn/run/options.h"
#include "hewn/train/step/teacher.h"

namespace hewn::train {

struct Workshop;

/// The temperature of the options, or what is usual for the task; none where it has no meaning there. Throws
/// Error where one is given nevertheless.
std::optional<double> temperature_for(const run::Options& options, const Task& task);

/// A network of the workshop's form with the weights at `path`, which must give them all; else as init. In a
/// group rank 0 reads them for all. Throws Error that names file and tensor where they do not fit.
std::shared_ptr<const Teacher> load_teacher(const Workshop& shop, const std::filesystem::path& path,
                                            run::Observer& observer);

/// Throws Error where the teacher is the run that it is to teach, or a part of that.
void check_is_another(const std::string& teacher, const std::filesystem::path& run);

/// Throws Error where a run that goes on has learned from other weights before.
void check_same_teacher(const Teacher& teacher, uint32_t crc);

}  // namespace hewn::train
