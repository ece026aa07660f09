#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/flow/graph.h"
#include "hewn/nn/signature.h"
#include "hewn/runtime/graph.h"

namespace hewn::nn {

/// A network that maps a batch of inputs to a batch of outputs.
class Model : public torch::nn::Module {
 public:
  virtual at::Tensor forward(const at::Tensor& input) = 0;
  virtual at::ScalarType input_type() const { return at::kFloat; }
  /// Names of the layers in order, where the network is a plain chain of them; else empty.
  virtual std::vector<std::string> chain() const { return {}; }
  /// What forward() does in evaluation mode, for inputs of that shape, as the runtime's graph: layers by the
  /// names of their parameters, batch norms as nodes of their own. Throws Error where a model has none.
  virtual runtime::Graph graph(const runtime::Shape& input) const;
  /// The same for networks that graph() has no words for, such as those with attention: a graph of general
  /// tensors, with the weights as they are now, from "input", whose first dimension is the batch, to
  /// "output". Nothing where graph() says it.
  virtual std::optional<flow::Graph> flow_graph() const { return {}; }
};

struct ModelOptions {
  std::vector<int64_t> widths = {1024, 1024};  // hidden widths of mlp and ctr-dnn
  int64_t width = 64;                          // channels of a resnet's first stage
  int64_t embedding = 10;                      // numbers per field in ctr-dnn
  std::optional<bool> small_stem = {};         // of resnet18 and resnet50; none: by the size of the images
  std::optional<int64_t> depth = {};           // blocks of a transformer; none: its usual number
  std::optional<int64_t> patch = {};  // pixels of a side of a vit's patch; none: by those of the images
};

struct ModelRow {
  std::string_view name;
  std::string_view help;
  std::shared_ptr<Model> (*make)(const Signature&, const ModelOptions&);
  Signature usual;  // what it is made for, where no data set says otherwise
  bool normalised;  // has normalisation layers
};
const std::vector<ModelRow>& models();
const ModelRow& find_model(const std::string& name);

}  // namespace hewn::nn
