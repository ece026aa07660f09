#include "hewn/train/checkpoint.h"

#include <algorithm>
#include <charconv>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/new_file.h"

namespace hewn::train {
namespace {

const std::string kPrefix = "step-";
const std::string kSuffix = ".safetensors";
const std::string kState = "hewn.state";

std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  const std::string_view digits =
      std::string_view(name).substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  int64_t step = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (problem != std::errc() || end != digits.data() + digits.size()) return {};
  return step;
}

}  // namespace

CheckpointStore::CheckpointStore(std::filesystem::path folder, int64_t keep)
    : folder_(std::move(folder)), keep_(std::max<int64_t>(1, keep)) {
  make_writable_folder(folder_);
}

std::vector<std::pair<int64_t, std::filesystem::path>> CheckpointStore::list() const {
  std::vector<std::pair<int64_t, std::filesystem::path>> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (const auto step = step_of(entry.path().filename().string())) found.emplace_back(*step, entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

void CheckpointStore::save(const Checkpoint& checkpoint) {
  const std::filesystem::path path = folder_ / str(kPrefix, checkpoint.step, kSuffix);
  tensor::save_tensors(path, {{{kState, checkpoint.state.dump()}}, checkpoint.tensors}, /*sealed=*/true);
  // Whoever trains here holds the folder's lock: a file on its way is one of a process that was killed.
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (is_left_over(entry.path())) std::filesystem::remove(entry.path());
  }
  const auto all = list();
  for (size_t i = static_cast<size_t>(keep_); i < all.size(); ++i) std::filesystem::remove(all[i].second);
}

std::optional<Checkpoint> CheckpointStore::load_newest(std::vector<std::string>* skipped) const {
  for (const auto& [step, path] : list()) {
    try {
      tensor::TensorFile file = tensor::load_tensors(path, /*sealed=*/true);
      Json state = parse_shallow<Json>(file.metadata[kState], 4);
      if (!state.is_object()) throw FormatError(path.string(), "holds no state");
      return Checkpoint{step, std::move(state), std::move(file.tensors)};
    } catch (const Error& problem) {
      skipped->push_back(problem.what());
    }
  }
  return {};
}

}  // namespace hewn::train
