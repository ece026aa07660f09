#include "hewn/train/network.h"

#include <ATen/Context.h>
#include <torch/utils.h>

#include "hewn/core/error.h"

namespace hewn::train {
namespace {

const char* words_for(nn::Takes takes) {
  return takes == nn::Takes::kClicks ? "click logs" : takes == nn::Takes::kText ? "text" : "images";
}

}  // namespace

nn::Signature signature_of(const data::DataInfo& info) {
  const nn::Takes takes = info.kind == data::Kind::kClicks ? nn::Takes::kClicks
                          : info.kind == data::Kind::kText ? nn::Takes::kText
                                                           : nn::Takes::kValues;
  return {info.input, info.classes, takes, info.vocabularies};
}

nn::Signature signature_for(const std::string& model, const std::string& data) {
  if (data.empty()) return nn::usual_signature(model);
  const data::DataInfo& info = data::find_info(data);
  // An image folder says its classes and a table its columns only when it is open.
  return info.classes == 0 || info.input.empty() ? nn::usual_signature(model) : signature_of(info);
}

std::shared_ptr<nn::Model> build_model(const run::Options& options, const nn::Signature& signature) {
  if (options.width < 1) throw Error(hewn::str("width: expected at least 1, got ", options.width));
  const nn::ModelRow& row = nn::find_model(options.model);
  if (row.usual.takes != signature.takes) {
    throw Error(hewn::str("model ", row.name, ": takes ", words_for(row.usual.takes), ", not ",
                          words_for(signature.takes)));
  }
  if (signature.input.size() == 1 && signature.takes == nn::Takes::kValues && row.name != "mlp") {
    throw Error(hewn::str("model ", row.name, ": takes images, not rows of a table; model mlp takes them"));
  }
  torch::manual_seed(static_cast<uint64_t>(options.seed));
  nn::ModelOptions form{options.widths, options.width, options.embedding};
  if (options.stem != "auto") form.small_stem = options.stem == "small";
  form.depth = options.depth;
  form.patch = options.patch;
  return row.make(signature, form);
}

void move_to(nn::Model& model, c10::Device device, bool cudnn_benchmark) {
  model.to(device);
  if (!device.is_cuda()) return;
  at::globalContext().setDeterministicCuDNN(!cudnn_benchmark);
  at::globalContext().setBenchmarkCuDNN(cudnn_benchmark);
  for (at::Tensor& parameter : model.parameters()) {
    if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
  }
}

}  // namespace hewn::train
