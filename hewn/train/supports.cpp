#include "hewn/train/supports.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/prune/support.h"
#include "hewn/tensor/tensor_file.h"

namespace hewn::train {
namespace {

const std::string kPrefix = "step-";
const std::string kSuffix = ".safetensors";
const std::string kEnd = "end" + kSuffix;
const std::string kKept = "kept.";
const std::string kGrid = "grid.";
constexpr int64_t kLargest = int64_t{1} << 31;  // of a grid's extents: far from overflow
const std::string kImportance = "importance.";
// Beyond this a picture has no pixel per block, and the records of unstructured pruning would fill the disk.
constexpr int64_t kMostBlocks = 1 << 16;

std::optional<int64_t> number_in(std::string_view text) {
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

/// Steps sort the records; the end comes behind them all.
std::optional<int64_t> order_of(const std::string& name) {
  if (name == kEnd) return std::numeric_limits<int64_t>::max();
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  return number_in(
      std::string_view(name).substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()));
}

/// A grid as a tensor, and back.
at::Tensor packed(const Grid& grid) {
  at::Tensor out = at::empty({5}, at::kLong);
  auto* numbers = out.data_ptr<int64_t>();
  numbers[0] = grid.rows;
  numbers[1] = grid.cols;
  numbers[2] = grid.block.rows;
  numbers[3] = grid.block.cols;
  numbers[4] = grid.groups;
  return out;
}

Grid grid_from(const at::Tensor& tensor) {
  if (tensor.scalar_type() != at::kLong || tensor.numel() != 5) throw Error("its grid is not five numbers");
  const auto* numbers = tensor.data_ptr<int64_t>();
  const bool sane = std::all_of(numbers, numbers + 5, [](int64_t n) { return n >= 1 && n <= kLargest; });
  if (!sane || numbers[1] % numbers[4] != 0) throw Error("its grid is none");
  return {numbers[0], numbers[1], {numbers[2], numbers[3]}, numbers[4]};
}

/// hewn 0.1 wrote how many blocks there are, and no grid: they are read as one column.
Grid grid_of(const tensor::TensorFile& file, const std::string& layer) {
  const auto found = file.tensors.find(kGrid + layer);
  if (found != file.tensors.end()) return grid_from(found->second);
  const auto text = file.metadata.find("hewn.blocks");
  const Json counts = text == file.metadata.end() ? Json() : parse_shallow<Json>(text->second, 1);
  const bool counted = counts.is_object() && counts.contains(layer) && counts[layer].is_number_integer();
  const int64_t count = counted ? counts[layer].get<int64_t>() : 0;
  if (count < 1 || count > kLargest) throw Error("it has no grid");
  return {count, 1, {1, 1}};
}

std::vector<std::pair<int64_t, std::filesystem::path>> listed(const std::filesystem::path& folder) {
  std::vector<std::pair<int64_t, std::filesystem::path>> found;
  if (!std::filesystem::is_directory(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (const auto order = order_of(entry.path().filename().string()))
      found.emplace_back(*order, entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

SupportLog::SupportLog(const run::Folder& run, const prune::Pruner& pruner, std::string score,
                       int64_t resumed_at)
    : folder_(run.supports()), pruner_(pruner), score_(std::move(score)) {
  for (const auto& [step, path] : listed(folder_)) {
    if (step > resumed_at) std::filesystem::remove(path);
  }
  if (!pruner.layers().empty()) make_writable_folder(folder_);
}

void SupportLog::on_phase(int64_t step, prune::Phase phase) {
  if (phase == prune::Phase::kSparse) write(hewn::str(kPrefix, step, kSuffix), step);
}

void SupportLog::write(const std::string& name, int64_t step) const {
  if (pruner_.layers().empty()) return;
  const at::NoGradGuard no_grad;
  tensor::TensorFile file;
  for (const prune::Pruner::Layer& layer : pruner_.layers()) {
    const LayerBlocks blocks = prune::blocks_of(layer.weight.layout.grid, layer.support);
    const std::vector<uint8_t> bits = blocks.bits();
    const at::Tensor kept = at::empty({static_cast<int64_t>(bits.size())}, at::kByte);
    std::copy(bits.begin(), bits.end(), kept.data_ptr<uint8_t>());
    file.tensors[kKept + layer.name] = kept;
    file.tensors[kGrid + layer.name] = packed(blocks.grid());
    if (layer.weight.blocks() > kMostBlocks) continue;
    const at::Tensor level = layer.score->level(layer.weight);
    const at::Tensor importance = layer.score->importance(layer.weight);
    file.tensors[kImportance + layer.name] =
        (level.defined() ? importance + level : importance).to(at::kHalf);
  }
  file.metadata = {{"hewn.step", std::to_string(step)}, {"hewn.score", score_}};
  tensor::save_tensors(folder_ / name, file, /*sealed=*/true);
}

std::vector<std::filesystem::path> support_files(const run::Folder& run) {
  std::vector<std::filesystem::path> files;
  for (const auto& [step, path] : listed(run.supports())) files.push_back(path);
  return files;
}

SupportRecord read_supports(const std::filesystem::path& path) {
  tensor::TensorFile file = tensor::load_tensors(path, /*sealed=*/true);
  const auto step = number_in(file.metadata["hewn.step"]);
  if (!step) throw FormatError(path.string(), "is not a record of kept blocks");
  SupportRecord record{*step, path.filename() == kEnd, file.metadata["hewn.score"], {}};
  for (const auto& [key, bits] : file.tensors) {
    if (!key.starts_with(kKept)) continue;
    const std::string name = key.substr(kKept.size());
    LayerSupport& layer = record.layers[name];
    try {
      if (bits.scalar_type() != at::kByte) throw Error("its blocks are not bits");
      layer.blocks = LayerBlocks::of_bits(grid_of(file, name),
                                          {bits.data_ptr<uint8_t>(), static_cast<size_t>(bits.numel())});
    } catch (const Error& error) {
      throw FormatError(path.string(), hewn::str("layer ", name, ": ", error.what()));
    }
    const auto found = file.tensors.find(kImportance + name);
    if (found == file.tensors.end()) continue;
    const int64_t blocks = layer.blocks.grid().blocks();
    if (found->second.numel() != blocks)
      throw FormatError(path.string(), hewn::str("layer ", name, ": not one importance per block"));
    const at::Tensor values = found->second.to(at::kFloat).contiguous();
    layer.importance.assign(values.data_ptr<float>(), values.data_ptr<float>() + blocks);
  }
  return record;
}

}  // namespace hewn::train
