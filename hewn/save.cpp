#include "hewn/save.h"

#include <ATen/TensorOperators.h>

#include "hewn/core/error.h"
#include "hewn/core/version.h"
#include "hewn/prune/gate.h"
#include "hewn/tensor/state_dict.h"

namespace hewn {
namespace {

const std::string kBlocks = "hewn.blocks";

void check_zeros(const Blocks& blocks, const std::map<std::string, at::Tensor>& tensors) {
  for (const auto& [layer, kept] : blocks) {
    hewn::check_zeros(layer, tensors.at(weight_name(layer, tensors)), kept);
  }
}

}  // namespace

std::string weight_name(const std::string& layer, const std::map<std::string, at::Tensor>& tensors) {
  if (layer.empty()) return "weight";
  for (const char* end : {".weight", "_weight"}) {
    if (tensors.contains(layer + end)) return layer + end;
  }
  throw Error(str("layer ", layer, ": there is no tensor \"", layer, ".weight\""));
}

void check_zeros(const std::string& layer, const at::Tensor& weight, const LayerBlocks& blocks) {
  const at::Tensor values = weight.detach().to(at::kCPU).to(at::kFloat).contiguous();
  const WeightLayout layout = prune::layout_on(values, blocks.grid());
  const Grid& grid = layout.grid;
  if (grid != blocks.grid()) {
    throw Error(str("layer ", layer, ": its kept blocks are of a weight of ", blocks.grid().rows, "x",
                    blocks.grid().cols, ", but the weight is ", grid.rows, "x", grid.cols));
  }
  const std::vector<uint8_t> kept = blocks.flags();
  const auto* data = values.data_ptr<float>();
  for (int64_t column = 0; column < grid.cols; ++column) {
    for (int64_t offset = 0; offset < grid.rows; ++offset) {
      const int64_t block = grid.block_of(layout.row_of(offset), column);
      if (kept[static_cast<size_t>(block)] != 0 || data[column * grid.rows + offset] == 0) continue;
      throw Error(str("layer ", layer, ": block ", block, " is listed as dropped but is not zero"));
    }
  }
}

void save(const torch::nn::Module& module, const Blocks& blocks, const std::filesystem::path& path,
          const std::map<std::string, std::string>& about) {
  tensor::TensorFile file{about, tensor::state_dict(module)};
  check_zeros(blocks, file.tensors);
  file.metadata["format"] = "pt";
  file.metadata["hewn.version"] = kVersion;
  file.metadata[kBlocks] = to_text(blocks);
  tensor::save_tensors(path, file, /*sealed=*/false);
}

Blocks load(torch::nn::Module& module, const std::filesystem::path& path) {
  const tensor::TensorFile file = tensor::load_weights(path);
  Blocks blocks = lists_blocks(file) ? blocks_in(file, path.string()) : Blocks();
  const auto targets = tensor::state_dict(module);
  tensor::check_fits(targets, file, "", path.string());
  for (const auto& [name, tensor] : file.tensors) {
    if (!targets.contains(name))
      throw FormatError(path.string(), str("the module has no tensor \"", name, "\""));
  }
  tensor::copy_into(targets, file, "", path.string());
  return blocks;
}

bool lists_blocks(const tensor::TensorFile& file) { return file.metadata.contains(kBlocks); }

Blocks blocks_in(const tensor::TensorFile& file, const std::string& where) {
  const auto text = file.metadata.find(kBlocks);
  if (text == file.metadata.end()) throw FormatError(where, "holds no block structure");
  Blocks blocks = parse_blocks(text->second, where, [&](const std::string& layer, const BlockShape& block) {
    return prune::layout_of(file.tensors.at(weight_name(layer, file.tensors)), block).grid;
  });
  try {
    check_zeros(blocks, file.tensors);
  } catch (const Error& error) {
    throw FormatError(where, error.what());
  }
  return blocks;
}

}  // namespace hewn
