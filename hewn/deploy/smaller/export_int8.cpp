#include "hewn/deploy/smaller/export_int8.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "hewn/core/error.h"
#include "hewn/deploy/export.h"
#include "hewn/deploy/smaller/shrink.h"
#include "hewn/flow/model_file.h"
#include "hewn/runtime/preprocessing.h"
#include "hewn/train/open_data.h"

namespace hewn::deploy {
namespace {

/// Rows [begin, begin + count) of a batch, with elements as the network takes them.
flow::Tensor rows_of(const at::Tensor& input, int64_t begin, int64_t count, flow::Type type) {
  const at::Tensor rows =
      input.narrow(0, begin, count).to(type == flow::Type::kFloat ? at::kFloat : at::kLong).contiguous();
  flow::Tensor out(flow::Spec{type, rows.sizes().vec()});
  std::memcpy(out.bytes(), rows.data_ptr(), out.byte_count());
  return out;
}

/// Blocks of another size than those that are looked for anyway.
int64_t odd_block(const Blocks& blocks) {
  std::set<int64_t> sizes;
  for (const auto& [name, kept] : blocks) {
    const BlockShape& block = kept.grid().block;
    if (block.rows != block.cols) return 0;
    sizes.insert(block.rows);
  }
  if (sizes.size() != 1 || std::set<int64_t>{4, 8, 16, 32}.contains(*sizes.begin())) return 0;
  return *sizes.begin();
}

}  // namespace

InputBatches training_inputs(const Trained& trained, int64_t count, run::Observer& observer) {
  data::DataOptions how = train::data_options(trained.options, at::kCPU, {}, observer);
  how.augment = false;
  const auto source = data::open_source(trained.options.data, how);
  if (trained.from_run) train::check_unchanged({trained.file.parent_path()}, *source);
  const flow::Type type =
      trained.signature.takes == nn::Takes::kValues ? flow::Type::kFloat : flow::Type::kInt;
  InputBatches out;
  for (int64_t number = 0; number < source->train_batches() && count > 0; ++number) {
    const at::Tensor input = source->train_batch(/*epoch=*/0, number).input;
    const int64_t used = std::min(count, input.size(0));
    for (int64_t i = 0; i < used; i += flow::kObservedAtOnce)
      out.push_back({rows_of(input, i, std::min(flow::kObservedAtOnce, used - i), type)});
    count -= used;
  }
  if (out.empty()) throw Error(hewn::str("calibration: ", trained.options.data, " has no training samples"));
  return out;
}

Int8Export export_int8(const Trained& trained, const std::filesystem::path& to, const InputBatches& batches,
                       const flow::QuantiseOptions& options) {
  check_export_file(to, io::DType::kI8);
  Int8Export out;
  out.graph = trained.graph();
  for (const auto& [value, tensor] : out.graph.constants) {
    if (tensor.type() == flow::Type::kFloat) out.bytes_dense += static_cast<int64_t>(tensor.byte_count());
  }
  out.removed = flow::shrink(out.graph, shrink_unit(trained.weights.blocks));
  out.layers = flow::quantise(out.graph, batches, options);
  std::map<std::string, std::string> metadata = trained.metadata();
  out.block = odd_block(trained.weights.blocks);
  if (out.block > 0) metadata["hewn.block"] = std::to_string(out.block);
  std::map<std::string, io::TensorView> beside;
  runtime::add_arrays(trained.inputs.arrays, beside);
  flow::write_flow_model(to, out.graph, metadata, beside);
  out.bytes = static_cast<int64_t>(std::filesystem::file_size(to));
  return out;
}

}  // namespace hewn::deploy
