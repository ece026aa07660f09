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
#include "hewn/train/tensor_file.h"

namespace hewn::train {
namespace {

const std::string kPrefix = "step-";
const std::string kSuffix = ".safetensors";
const std::string kEnd = "end" + kSuffix;
const std::string kKept = "kept.";
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

/// Eight blocks a byte, the first in the lowest bit.
at::Tensor packed(const prune::Pruner::Layer& layer) {
  const int64_t blocks = layer.weight.blocks();
  const at::Tensor bits = at::empty({(blocks + 7) / 8}, at::kByte).zero_();
  const at::Tensor support = layer.support.defined() ? layer.support.to(at::kCPU).contiguous() : at::Tensor();
  for (int64_t i = 0; i < blocks; ++i) {
    const bool kept = !support.defined() || support.data_ptr<uint8_t>()[i] != 0;
    if (kept) bits.data_ptr<uint8_t>()[i / 8] |= static_cast<uint8_t>(1U << (i % 8));
  }
  return bits;
}

std::vector<uint8_t> unpacked(const at::Tensor& bits, int64_t blocks) {
  std::vector<uint8_t> kept(static_cast<size_t>(blocks));
  for (int64_t i = 0; i < blocks; ++i) {
    kept[static_cast<size_t>(i)] = (bits.data_ptr<uint8_t>()[i / 8] >> (i % 8)) & 1;
  }
  return kept;
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

SupportLog::SupportLog(const RunFolder& run, const prune::Pruner& pruner, std::string score,
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
  Json blocks = Json::object();
  TensorFile file;
  for (const prune::Pruner::Layer& layer : pruner_.layers()) {
    blocks[layer.name] = layer.weight.blocks();
    file.tensors[kKept + layer.name] = packed(layer);
    if (layer.weight.blocks() > kMostBlocks) continue;
    file.tensors[kImportance + layer.name] = layer.score->importance(layer.weight).to(at::kHalf);
  }
  file.metadata = {
      {"hewn.step", std::to_string(step)}, {"hewn.score", score_}, {"hewn.blocks", blocks.dump()}};
  save_tensors(folder_ / name, file, /*sealed=*/true);
}

std::vector<std::filesystem::path> support_files(const RunFolder& run) {
  std::vector<std::filesystem::path> files;
  for (const auto& [step, path] : listed(run.supports())) files.push_back(path);
  return files;
}

SupportRecord read_supports(const std::filesystem::path& path) {
  TensorFile file = load_tensors(path, /*sealed=*/true);
  const auto step = number_in(file.metadata["hewn.step"]);
  const Json blocks = parse_shallow<Json>(file.metadata["hewn.blocks"], 1);
  if (!step || !blocks.is_object()) throw FormatError(path.string(), "is not a record of kept blocks");
  SupportRecord record{*step, path.filename() == kEnd, file.metadata["hewn.score"], {}};
  for (const auto& [name, count] : blocks.items()) {
    const at::Tensor& bits = file.tensors[kKept + name];
    const int64_t n = count.is_number_integer() ? count.get<int64_t>() : 0;
    if (n < 1 || !bits.defined() || bits.scalar_type() != at::kByte || bits.numel() != (n + 7) / 8) {
      throw FormatError(path.string(), hewn::str("layer ", name, ": its blocks are missing or too few"));
    }
    LayerSupport& layer = record.layers[name];
    layer.kept = unpacked(bits, n);
    const auto found = file.tensors.find(kImportance + name);
    if (found == file.tensors.end()) continue;
    if (found->second.numel() != n)
      throw FormatError(path.string(), hewn::str("layer ", name, ": not one importance per block"));
    const at::Tensor values = found->second.to(at::kFloat).contiguous();
    layer.importance.assign(values.data_ptr<float>(), values.data_ptr<float>() + n);
  }
  return record;
}

}  // namespace hewn::train
