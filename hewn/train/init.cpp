#include "hewn/train/init.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/io/source_kind.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/tensor/tensor_file.h"

namespace hewn::train {
namespace {

constexpr std::string_view kParallel = "module.";

/// How many batches a normalisation has seen: older files lack it, and nothing here reads it.
bool is_counter(const std::string& name) { return name.ends_with("num_batches_tracked"); }

void strip_prefix(std::map<std::string, at::Tensor>& tensors) {
  const bool all = std::all_of(tensors.begin(), tensors.end(),
                               [](const auto& item) { return item.first.starts_with(kParallel); });
  if (!all) return;
  std::map<std::string, at::Tensor> out;
  for (const auto& [name, tensor] : tensors) out[name.substr(kParallel.size())] = tensor;
  tensors = std::move(out);
}

/// Says of a file of another kind what it is; of a damaged one the reader knows more.
void check_weights_file(const std::filesystem::path& path) {
  const io::SourceKind kind = io::kind_of(path);
  if (kind == io::SourceKind::kWeights || kind == io::SourceKind::kTorch ||
      kind == io::SourceKind::kDamaged) {
    return;
  }
  if (kind == io::SourceKind::kMissing) throw FormatError(path.string(), "no such file or folder");
  throw FormatError(path.string(),
                    hewn::str("is ", name_of(kind), "; expected ", name_of(io::SourceKind::kWeights), " or ",
                              name_of(io::SourceKind::kTorch)));
}

}  // namespace

std::string load_weights(nn::Model& model, const std::filesystem::path& path, const std::string& skip) {
  check_weights_file(path);
  tensor::TensorFile file = tensor::load_weights(path);
  strip_prefix(file.tensors);
  const std::vector<std::string> patterns = split(skip, ',');
  const auto skipped = [&](const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const auto& p) { return matches(p, name); });
  };
  std::map<std::string, at::Tensor> wanted;
  for (const auto& [name, tensor] : tensor::state_dict(model)) {
    const bool optional = skipped(name) || (is_counter(name) && !file.tensors.contains(name));
    if (!optional) wanted[name] = tensor;
  }
  for (const auto& [name, tensor] : file.tensors) {
    if (!wanted.contains(name) && !skipped(name)) {
      throw FormatError(path.string(), hewn::str("tensor \"", name,
                                                 "\" is not part of the model; leave it out with init-skip"));
    }
  }
  tensor::copy_into(wanted, file, "", path.string());
  return file.note;
}

}  // namespace hewn::train
