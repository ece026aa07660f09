#include "hewn/train/init.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/io/source_kind.h"
#include "hewn/run/folder.h"
#include "hewn/save.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/zeros.h"

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

bool any_matches(const std::string& patterns, const std::string& name) {
  const std::vector<std::string> list = split(patterns, ',');
  return std::any_of(list.begin(), list.end(), [&](const auto& pattern) { return matches(pattern, name); });
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

std::string layer_of(const std::string& tensor) { return tensor.substr(0, tensor.rfind('.')); }

/// What to do about a shape that does not fit, where that is known: a stem for images of another size, or a
/// last layer for other classes, the only one that does not fit.
std::string advice(const std::string& name, const at::Tensor& held, const at::Tensor& needed, bool only) {
  if (held.dim() == 4 && needed.dim() == 4 && held.size(0) == needed.size(0) &&
      held.size(2) != needed.size(2)) {
    const bool larger = held.size(2) > needed.size(2);
    return hewn::str("; the first layer is for ", larger ? "larger" : "smaller", " images: give --stem ",
                     larger ? "imagenet" : "small", ", or --image-size where the data are image files");
  }
  return only ? hewn::str("; for other classes train this layer anew with --init-skip '", layer_of(name),
                          ".*'")
              : "";
}

void check_shapes(const std::map<std::string, at::Tensor>& wanted, const tensor::TensorFile& file,
                  const std::string& where, bool may_skip) {
  std::vector<std::string> names;
  for (const auto& [name, needed] : wanted) {
    const auto held = file.tensors.find(name);
    if (held != file.tensors.end() && held->second.sizes() != needed.sizes()) names.push_back(name);
  }
  if (names.empty()) return;
  const at::Tensor& held = file.tensors.at(names.front());
  const at::Tensor& needed = wanted.at(names.front());
  const bool only = may_skip && layer_of(names.front()) == layer_of(names.back());
  throw FormatError(where,
                    hewn::str("tensor \"", names.front(), "\" has shape ", held.sizes(), ", the model needs ",
                              needed.sizes(), advice(names.front(), held, needed, only)));
}

/// One size of blocks holds for all pruned layers of a run.
BlockShape only_block(const Blocks& support, const std::string& where) {
  const BlockShape block = support.begin()->second.grid().block;
  for (const auto& [layer, kept] : support) {
    if (kept.grid().block == block) continue;
    throw FormatError(where, hewn::str("has blocks of ", to_string(block), " and, in layer ", layer, ", of ",
                                       to_string(kept.grid().block), "; a run has one size of blocks"));
  }
  return block;
}

}  // namespace

tensor::TensorFile load_weights(nn::Model& model, const std::filesystem::path& path,
                                const std::optional<std::string>& skip) {
  if (io::kind_of(path) == io::SourceKind::kRun) return load_weights(model, run::Folder{path}.model(), skip);
  check_weights_file(path);
  tensor::TensorFile file = tensor::load_weights(path);
  strip_prefix(file.tensors);
  const std::string left_out = skip.value_or("");
  std::map<std::string, at::Tensor> wanted;
  for (const auto& [name, tensor] : tensor::state_dict(model)) {
    const bool optional = any_matches(left_out, name) || (is_counter(name) && !file.tensors.contains(name));
    if (!optional) wanted[name] = tensor;
  }
  for (const auto& [name, tensor] : file.tensors) {
    if (!wanted.contains(name) && !any_matches(left_out, name)) {
      throw FormatError(path.string(), hewn::str("tensor \"", name, "\" is not part of the model",
                                                 skip ? "; leave it out with init-skip" : ""));
    }
  }
  check_shapes(wanted, file, path.string(), skip.has_value());
  std::map<std::string, at::Tensor> taken;
  for (const auto& [name, needed] : wanted) {
    if (file.tensors.contains(name)) taken[name] = file.tensors.at(name);
  }
  // Training would find it in the first loss, and blame the learning rate.
  const std::string bad = tensor::not_finite(taken);
  if (!bad.empty())
    throw FormatError(path.string(), hewn::str("tensor \"", bad, "\" holds values that are not finite"));
  tensor::copy_into(wanted, file, "", path.string());
  return file;
}

std::string keep_support(nn::Model& model, const tensor::TensorFile& file, run::Options& options) {
  PrunerOptions& prune = options.prune;
  const bool listed = lists_blocks(file);
  try {
    prune.support = listed ? blocks_in(file, options.init) : blocks_by_zeros(model, prune.block);
  } catch (const FormatError&) {
    throw;
  } catch (const Error& error) {
    throw FormatError(options.init, error.what());
  }
  // Layers that begin anew have no support.
  std::erase_if(prune.support, [&](const auto& layer) {
    return any_matches(options.init_skip, weight_name(layer.first, file.tensors));
  });
  if (prune.support.empty()) {
    throw FormatError(options.init, hewn::str("has no support to keep: no layer of it ",
                                              listed ? "is listed as pruned" : "has zeros"));
  }
  prune.block = only_block(prune.support, options.init);
  prune.layers.clear();
  prune.min_blocks = 1;
  int64_t kept = 0;
  int64_t all = 0;
  for (const auto& [layer, blocks] : prune.support) {
    prune.layers.push_back(layer);
    kept += blocks.kept();
    all += blocks.grid().blocks();
  }
  prune.sparsity = 1 - static_cast<double>(kept) / static_cast<double>(all);
  return hewn::str("its ", kept, " of ", all, " blocks of ", to_string(prune.block), " in ",
                   prune.support.size(), " layers are kept, ", listed ? "as it lists them" : "by its zeros");
}

}  // namespace hewn::train
