#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/tensor/tensor_file.h"

namespace hewn::train {

/// A moment of a run: after `step` steps. `state` holds what is not a tensor.
struct Checkpoint {
  int64_t step = 0;
  Json state;
  std::map<std::string, at::Tensor> tensors;
};

/// The checkpoints of a run: step-N.safetensors in one folder, each written atomically and sealed with a
/// checksum.
class CheckpointStore {
 public:
  CheckpointStore(std::filesystem::path folder, int64_t keep);

  /// Writes a checkpoint and then removes all but the newest `keep`.
  void save(const Checkpoint& checkpoint);

  /// The newest checkpoint that is whole, if there is any. Damaged ones are skipped; `skipped` gets a
  /// sentence for each.
  std::optional<Checkpoint> load_newest(std::vector<std::string>* skipped) const;

 private:
  std::vector<std::pair<int64_t, std::filesystem::path>> list() const;  // newest first

  std::filesystem::path folder_;
  int64_t keep_;
};

}  // namespace hewn::train
