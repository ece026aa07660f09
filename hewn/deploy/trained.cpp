#include "hewn/deploy/trained.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/deploy/export.h"
#include "hewn/deploy/finished_run.h"
#include "hewn/runtime/about.h"
#include "hewn/runtime/flow_graph.h"
#include "hewn/runtime/preprocessing.h"
#include "hewn/save.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/init.h"
#include "hewn/train/network.h"
#include "hewn/train/open_data.h"

namespace hewn::deploy {

runtime::ModelData Trained::data() const {
  runtime::ModelData out = export_model(model->graph(image_shape(signature.input)), weights);
  out.model = name;
  out.method = method;
  out.classes = inputs.classes;
  out.preprocessing = inputs.rule;
  out.arrays = inputs.arrays;
  return out;
}

flow::Graph Trained::graph() const {
  std::optional<flow::Graph> own = model->flow_graph();
  if (!own) return flow_graph(data(), signature.input);
  for (const auto& [layer, blocks] : weights.blocks) {
    check_zeros(layer, weights.tensors.at(weight_name(layer, weights.tensors)), blocks);
  }
  return std::move(*own);
}

std::map<std::string, std::string> Trained::metadata() const {
  runtime::ModelData about;
  about.model = name;
  about.method = method;
  about.classes = inputs.classes;
  about.preprocessing = inputs.rule;
  std::map<std::string, std::string> out;
  write_about(about, {signature.outputs, 1, 1}, out);
  if (signature.takes == nn::Takes::kClicks) out["hewn.vocabularies"] = Json(signature.vocabularies).dump();
  return out;
}

Trained trained_by(const run::Folder& folder) {
  FinishedRun run = FinishedRun::open(folder);
  const run::Config& config = run.config;
  Trained out{std::move(run.model), config.signature, config.options.model, "", {}, {}, folder.model(), true,
              config.options};
  out.weights = {run.file.tensors, run.blocks};
  const auto method = run.file.metadata.find("hewn.method");
  if (method != run.file.metadata.end()) out.method = method->second;
  if (is_there(folder.inputs())) {
    out.inputs = runtime::read_preprocessing(folder.inputs(), out.signature.outputs);
  }
  return out;
}

Trained trained_elsewhere(const run::Options& options, run::Observer& observer) {
  const auto source = train::open_data(options, at::kCPU, {}, observer);
  Trained out{nullptr, train::signature_of(source->info()), options.model, "", {}, {}, options.init, false,
              options};
  out.model = train::build_model(options, out.signature);
  const tensor::TensorFile file = train::load_weights(*out.model, options.init, options.init_skip);
  if (!file.note.empty()) observer.on_message(hewn::str(options.init, ": ", file.note));
  out.weights.tensors = tensor::state_dict(*out.model);
  if (lists_blocks(file)) out.weights.blocks = blocks_in(file, options.init);
  out.inputs = source->preprocessing();
  return out;
}

}  // namespace hewn::deploy
