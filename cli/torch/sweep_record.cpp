#include "cli/torch/sweep_record.h"

#include "cli/torch/sweep_rules.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::cli {
namespace {

constexpr const char* kBegun = "begun\n";

/// The file of a sweep as it was at its last start.
sweep::SweepFile recorded_file(const sweep::Folder& folder, const Json& record) {
  sweep::SweepFile file = sweep::sweep_file(read_file(folder.file()), folder.file().string());
  const auto text = [&](const char* key, const std::string& otherwise) {
    const Json value = record.value(key, Json());
    return value.is_string() ? value.get<std::string>() : otherwise;
  };
  file.path = text("file", "sweep.toml");
  file.name = text("name", std::filesystem::path(file.path).stem().string());
  file.size = text("size", "");
  return file;
}

bool is_begun(const sweep::Folder& folder) {
  return is_there(folder.joined()) && read_file(folder.joined()) == kBegun;
}

/// A sweep without --join holds the lock and then looks whether the folder is joined, we do it the other way
/// round: one of the two sees the other.
void begin_first(const Sweep& sweep, const sweep::Folder& folder, const sweep::Options& given,
                 const std::string& text) {
  write_file_atomically(folder.joined(), "");
  try {
    const FileLock lock(folder.lock());
    begin(sweep, folder, given, text);
    write_file_atomically(folder.joined(), kBegun);
  } catch (...) {
    std::filesystem::remove(folder.joined());
    throw;
  }
}

}  // namespace

Sweep read_sweep(const sweep::SweepFile& file, const sweep::Options& given) {
  const sweep::TrainRules rules = train_rules();
  Sweep out;
  out.spec = sweep::read_spec(file, given, rules);
  out.runs = sweep::expand(out.spec, rules);
  choose_metric(out.spec, out.runs);
  return out;
}

Sweep recorded_sweep(const sweep::Folder& folder, const sweep::Options& given) {
  const Json record = sweep::read_record(folder.record());
  sweep::Options all = given;
  const Json before = record.value("given", Json::object());
  for (const auto& [key, text] : before.items()) {
    if (!text.is_string())
      throw FormatError(folder.record().string(), str("given: ", key, ": expected a text"));
    all.emplace(key, text.get<std::string>());
  }
  return read_sweep(recorded_file(folder, record), all);
}

void begin(const Sweep& sweep, const sweep::Folder& folder, const sweep::Options& given,
           const std::string& text) {
  Json record = sweep::record_of(sweep.spec, given, sweep.runs);
  if (is_there(folder.record())) {
    record =
        sweep::continued(sweep::read_record(folder.record()), record, sweep.spec, folder.path, train_rules());
  }
  write_file_atomically(folder.file(), text);
  write_file_atomically(folder.record(), record.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<Sweep> begin_together(const Sweep& sweep, const sweep::Folder& folder,
                                    const sweep::Options& given, const std::string& text,
                                    sweep::Leases& leases, const std::atomic<int>& stop) {
  if (!is_begun(folder)) {
    const std::optional<sweep::Lease> lease = leases.wait_for("begin", stop);
    if (!lease) return std::nullopt;
    make_writable_folder(folder.leases());  // lets a client of NFS see what the last one wrote there
    if (!is_begun(folder)) begin_first(sweep, folder, given, text);
  }
  // Where and how fast is each joiner's own affair.
  sweep::Options own;
  own["device"] = sweep.spec.options.device;
  own["workers"] = std::to_string(sweep.spec.options.workers);
  own["threads"] = std::to_string(sweep.spec.options.threads);
  Sweep joined = recorded_sweep(folder, own);
  sweep::require_same(sweep::record_of(joined.spec, {}, joined.runs),
                      sweep::record_of(sweep.spec, {}, sweep.runs), sweep.spec, train_rules());
  return joined;
}

}  // namespace hewn::cli
