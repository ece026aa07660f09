#include "hewn/core/blocks.h"

#include <algorithm>
#include <numeric>

#include "hewn/core/error.h"
#include "hewn/core/json.h"

namespace hewn {
namespace {

constexpr int kDepth = 4;                    // object, layers, layer, list
constexpr int64_t kMost = int64_t{1} << 31;  // of an extent: far beyond any weight, and far from overflow

BlockShape block_from(const Json& json) {
  const BlockShape block{json.at(0).get<int64_t>(), json.at(1).get<int64_t>()};
  if (block.rows < 1 || block.cols < 1 || block.rows > kMost || block.cols > kMost)
    throw Error(str("a block of ", to_string(block)));
  return block;
}

Grid grid_from(const Json& json) {
  Grid grid{json.at("shape").at(0).get<int64_t>(), json.at("shape").at(1).get<int64_t>(),
            block_from(json.at("block")), json.value("groups", int64_t{1})};
  if (grid.rows < 1 || grid.cols < 1 || grid.rows > kMost || grid.cols > kMost || grid.groups < 1 ||
      grid.cols % grid.groups != 0) {
    throw Error(str("a grid of ", grid.rows, "x", grid.cols, " in ", grid.groups, " groups"));
  }
  return grid;
}

LayerBlocks named(const std::string& name, const Grid& grid, const Json& kept) {
  try {
    return {grid, kept.get<std::vector<int64_t>>()};
  } catch (const Error& error) {
    throw Error(str("layer ", Json(name).dump(), ": ", error.what()));
  }
}

Blocks parse(const Json& json, const GridOf& grid_of) {
  Blocks blocks;
  if (json.contains("layers")) {
    for (const auto& [name, layer] : json.at("layers").items()) {
      blocks[name] = named(name, grid_from(layer), layer.at("kept"));
    }
    return blocks;
  }
  // hewn 0.1: one size of blocks for all, and no grids.
  const BlockShape block = block_from(json.at("block"));
  for (const auto& [name, kept] : json.at("kept").items()) {
    blocks[name] = named(name, grid_of(name, block), kept);
  }
  return blocks;
}

}  // namespace

LayerBlocks::LayerBlocks(const Grid& grid, std::vector<int64_t> kept) : grid_(grid), kept_(std::move(kept)) {
  std::sort(kept_.begin(), kept_.end());
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i] < 0 || kept_[i] >= grid_.blocks()) {
      throw Error(str("kept block ", kept_[i], " is outside its grid of ", grid_.blocks()));
    }
    if (i > 0 && kept_[i] == kept_[i - 1]) throw Error(str("kept block ", kept_[i], " is there twice"));
  }
}

LayerBlocks LayerBlocks::of_flags(const Grid& grid, std::span<const uint8_t> flags) {
  if (static_cast<int64_t>(flags.size()) != grid.blocks()) {
    throw Error(str(flags.size(), " flags for a grid of ", grid.blocks(), " blocks"));
  }
  LayerBlocks out;
  out.grid_ = grid;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] != 0) out.kept_.push_back(static_cast<int64_t>(i));
  }
  return out;
}

LayerBlocks LayerBlocks::all_of(const Grid& grid) {
  LayerBlocks out;
  out.grid_ = grid;
  out.kept_.resize(static_cast<size_t>(grid.blocks()));
  std::iota(out.kept_.begin(), out.kept_.end(), 0);
  return out;
}

int64_t LayerBlocks::elements() const {
  int64_t sum = 0;
  for (const int64_t block : kept_) sum += grid_.elements_of(block);
  return sum;
}

std::vector<uint8_t> LayerBlocks::flags() const {
  std::vector<uint8_t> out(static_cast<size_t>(grid_.blocks()), 0);
  for (const int64_t block : kept_) out[static_cast<size_t>(block)] = 1;
  return out;
}

std::vector<uint8_t> LayerBlocks::bits() const {
  std::vector<uint8_t> out(static_cast<size_t>((grid_.blocks() + 7) / 8), 0);
  for (const int64_t block : kept_)
    out[static_cast<size_t>(block / 8)] |= static_cast<uint8_t>(1U << (block % 8));
  return out;
}

LayerBlocks LayerBlocks::of_bits(const Grid& grid, std::span<const uint8_t> bits) {
  if (static_cast<int64_t>(bits.size()) != (grid.blocks() + 7) / 8) {
    throw Error(str(bits.size(), " bytes of bits for a grid of ", grid.blocks(), " blocks"));
  }
  LayerBlocks out;
  out.grid_ = grid;
  for (int64_t i = 0; i < grid.blocks(); ++i) {
    if ((bits[static_cast<size_t>(i / 8)] >> (i % 8) & 1) != 0) out.kept_.push_back(i);
  }
  return out;
}

std::string to_text(const Blocks& blocks) {
  Json layers = Json::object();
  for (const auto& [name, layer] : blocks) {
    const Grid& grid = layer.grid();
    Json& json =
        layers[name] = {{"shape", {grid.rows, grid.cols}}, {"block", {grid.block.rows, grid.block.cols}}};
    if (grid.groups > 1) json["groups"] = grid.groups;
    json["kept"] = layer.indices();
  }
  return Json{{"layers", layers}}.dump();
}

Blocks parse_blocks(const std::string& text, const std::string& where, const GridOf& grid_of) {
  const Json json = parse_shallow<Json>(text, kDepth);
  if (!json.is_object()) throw FormatError(where, "its block structure is not valid JSON");
  try {
    return parse(json, grid_of);
  } catch (const Json::exception&) {
    throw FormatError(where, "its block structure lacks something or is of another type");
  } catch (const FormatError&) {
    throw;
  } catch (const Error& error) {
    throw FormatError(where, str("its block structure: ", error.what()));
  }
}

}  // namespace hewn
