#include "hewn/deploy/open_model.h"

#include <algorithm>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/deploy/export.h"
#include "hewn/deploy/trained.h"
#include "hewn/io/source_kind.h"
#include "hewn/runtime/about.h"
#include "hewn/runtime/preprocessing.h"

namespace hewn::deploy {
namespace {

constexpr int kMostVocabularyLevels = 1;

/// One sample's shape, where the graph takes batches of samples and gives a row for each.
runtime::Shape sample_shape(const flow::Graph& graph) {
  if (graph.inputs.size() == 1 && graph.outputs.size() == 1) {
    const flow::Dims& in = graph.inputs[0].spec.dims;
    const flow::Dims& out = graph.outputs[0].spec.dims;
    const bool known =
        in.size() > 1 && std::all_of(in.begin() + 1, in.end(), [](int64_t n) { return n > 0; });
    if (known && in[0] < 0 && out.size() == 2 && out[0] < 0 && out[1] > 0 &&
        graph.outputs[0].spec.type == flow::Type::kFloat && graph.inputs[0].spec.type != flow::Type::kBool) {
      flow::count(std::span(in).subspan(1));
      return image_shape({in.begin() + 1, in.end()});
    }
  }
  throw Error("the network does not take samples and give a row of numbers for each");
}

std::vector<int64_t> vocabularies_in(const std::map<std::string, std::string>& metadata) {
  const auto found = metadata.find("hewn.vocabularies");
  if (found == metadata.end()) return {};
  const auto json = parse_shallow<nlohmann::json>(found->second, kMostVocabularyLevels);
  std::vector<int64_t> out;
  for (const auto& size : json) {
    if (!size.is_number_integer() || size.get<int64_t>() < 1) throw Error("hewn.vocabularies has no sizes");
    out.push_back(size.get<int64_t>());
  }
  return out;
}

OpenModel open_flow_model(const std::filesystem::path& path) {
  flow::FlowModel file = flow::read_flow_model(path);
  try {
    const runtime::Shape shape = sample_shape(file.graph);
    runtime::ModelData about;
    runtime::read_about(file.metadata, {file.graph.outputs[0].spec.dims[1], 1, 1}, about);
    if (!about.preprocessing.is_null()) about.arrays = runtime::read_arrays(io::read_safetensors(path));
    std::vector<int64_t> vocabularies = vocabularies_in(file.metadata);
    const bool whole = file.graph.inputs[0].spec.type == flow::Type::kInt;
    if (whole != !vocabularies.empty() ||
        (whole && static_cast<int64_t>(vocabularies.size()) != shape.elements())) {
      throw Error("hewn.vocabularies is not one size for each whole number that the network takes");
    }
    const int64_t block = file.block();
    return {std::move(file.graph),
            block,
            {about.classes, about.preprocessing, about.arrays},
            std::move(vocabularies)};
  } catch (const FormatError&) {
    throw;
  } catch (const Error& error) {
    throw FormatError(path.string(), error.what());
  }
}

OpenModel open_run(const std::filesystem::path& path) {
  const Trained trained = trained_by({path});
  if (!trained.model->flow_graph()) return runtime::Model(trained.data());
  return {trained.graph(), 0, trained.inputs, trained.signature.vocabularies};
}

}  // namespace

OpenModel::OpenModel(runtime::Model model) : network_(std::move(model)) {
  const auto& own = std::get<runtime::Model>(network_);
  shape_ = own.input_shape();
  outputs_ = own.outputs();
  about_ = {own.classes(), own.preprocessing(), own.arrays()};
  vocabularies_ = own.vocabularies();
}

OpenModel::OpenModel(flow::Graph graph, int64_t block, Preprocessing inputs,
                     std::vector<int64_t> vocabularies)
    : network_(flow::Network(std::move(graph), block)),
      about_(std::move(inputs)),
      vocabularies_(std::move(vocabularies)) {
  const flow::Graph& own = std::get<flow::Network>(network_).graph();
  const runtime::Shape shape = sample_shape(own);
  shape_ = {shape.channels, shape.height, shape.width};
  outputs_ = own.outputs[0].spec.dims[1];
}

void OpenModel::set_threads(int threads) {
  std::visit([threads](auto& network) { network.set_threads(threads); }, network_);
}

void OpenModel::run(const float* input, int64_t batch, float* output) {
  if (auto* model = std::get_if<runtime::Model>(&network_)) return model->run(input, batch, output);
  run_network(std::get<flow::Network>(network_), input, batch, output);
}

void OpenModel::run_network(flow::Network& network, const float* input, int64_t batch, float* output) {
  flow::Spec spec = network.graph().inputs[0].spec;
  spec.dims[0] = batch;
  flow::Tensor samples(spec);
  std::vector<bool> unknown(static_cast<size_t>(batch), false);
  const int64_t numbers = batch * inputs();
  if (spec.type == flow::Type::kFloat) {
    std::copy_n(input, numbers, samples.values<float>().data());
  } else {
    // Beyond its vocabulary a number would read the row of another field.
    for (int64_t i = 0; i < numbers; ++i) {
      const int64_t most = vocabularies_[static_cast<size_t>(i % inputs())];
      const bool fits = input[i] >= 0 && input[i] < static_cast<float>(most) &&
                        static_cast<float>(static_cast<int64_t>(input[i])) == input[i];
      if (fits) samples.values<int64_t>()[static_cast<size_t>(i)] = static_cast<int64_t>(input[i]);
      if (!fits) unknown[static_cast<size_t>(i / inputs())] = true;
    }
  }
  const flow::Tensor& results = network.run_in_place({samples})[0];
  if (results.elements() != batch * outputs_) throw Error("the network gave another number of outputs");
  std::copy_n(results.values<float>().data(), results.elements(), output);
  for (int64_t i = 0; i < batch; ++i) {
    if (unknown[static_cast<size_t>(i)])
      std::fill_n(output + i * outputs_, outputs_, std::numeric_limits<float>::quiet_NaN());
  }
}

OpenModel open_model(const std::filesystem::path& path, int64_t threads) {
  OpenModel model = io::kind_of(path) == io::SourceKind::kRun ? open_run(path)
                    : flow::is_flow_model(path)               ? open_flow_model(path)
                                                              : OpenModel(runtime::Model::load(path));
  model.set_threads(static_cast<int>(std::clamp<int64_t>(threads, -1, std::numeric_limits<int>::max())));
  return model;
}

}  // namespace hewn::deploy
