#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/sweep/expand.h"

namespace hewn::sweep {

enum class State : uint8_t { kWaiting, kInterrupted, kFinished, kFailed };
std::string_view name_of(State state);

/// The files of one sweep. docs/formats.md describes each. What became of a run is seen from its files alone,
/// so that nothing has to be kept in step with them.
struct Folder {
  std::filesystem::path path;

  std::filesystem::path lock() const { return path / ".lock"; }
  std::filesystem::path record() const { return path / "sweep.json"; }
  /// Of joiners: who holds which run, and a file that says that the folder is theirs.
  std::filesystem::path leases() const { return path / "leases"; }
  std::filesystem::path joined() const { return leases() / "joined"; }
  std::filesystem::path file() const { return path / "sweep.toml"; }
  std::filesystem::path run(const std::string& name) const { return path / "runs" / name; }
  std::filesystem::path failed(const std::string& name) const { return path / "failed" / name; }
  std::filesystem::path log(const std::string& name) const { return run(name) / "log.txt"; }

  State state(const std::string& name) const;
  /// The content of a finished run's summary.json; throws FormatError where it is damaged.
  Json summary(const std::string& name) const;
  /// Why a failed run failed.
  std::string failure(const std::string& name) const;

  /// Moves a run to failed/ with the reason.
  void keep_apart(const std::string& name, const std::string& why) const;
  /// Moves a failed run back, so that it goes on where it stopped.
  void take_back(const std::string& name) const;
  /// Ends moves to failed/ that were interrupted.
  void settle(const std::vector<Run>& runs) const;
};

/// What sweep.json says of a sweep: the file, what the command line replaced in it, fixed options and runs.
Json record_of(const Spec& spec, const Options& given, const std::vector<Run>& runs);

/// Puts the runs of an earlier record, which may have left the file since, into a new one. Throws FormatError
/// where the file now trains something else under the same name or with other fixed options.
Json continued(const Json& before, Json now, const Spec& spec, const std::filesystem::path& folder,
               const TrainRules& rules);

/// Throws FormatError where a file does not say the runs, each with its options, that others have joined for.
/// Both are records.
void require_same(const Json& joined, const Json& now, const Spec& spec, const TrainRules& rules);

/// Reads a JSON object. Throws FormatError where it is not one.
Json read_record(const std::filesystem::path& path);

}  // namespace hewn::sweep
