#include "hewn/nn/model.h"

#include "hewn/core/error.h"
#include "hewn/core/table.h"

namespace hewn::nn {

#define HEWN_MODEL(function, name, help, input, outputs, takes, normalised) \
  std::shared_ptr<Model> function(const Signature&, const ModelOptions&);
#include "hewn/nn/models.def"
#undef HEWN_MODEL

const std::vector<ModelRow>& models() {
  static const std::vector<ModelRow> kRows = {
#define HEWN_MODEL(function, name, help, input, outputs, takes, normalised) \
  {name, help, function, {input, outputs, takes}, normalised},
#include "hewn/nn/models.def"
#undef HEWN_MODEL
  };
  return kRows;
}

runtime::Graph Model::graph(const runtime::Shape&) const {
  throw Error("this model cannot be exported: it does not say what its graph is");
}

const ModelRow& find_model(const std::string& name) { return find_row(models(), name, "model"); }

}  // namespace hewn::nn
