#include "hewn/nn/signature.h"

#include "hewn/core/table.h"

namespace hewn::nn {

const std::vector<ModelFacts>& model_facts() {
  static const std::vector<ModelFacts> kRows = {
#define HEWN_MODEL(function, name, help, input, outputs, takes, normalised) \
  {name, help, {input, outputs, takes}, normalised},
#include "hewn/nn/models.def"
#undef HEWN_MODEL
  };
  return kRows;
}

const Signature& usual_signature(const std::string& model) {
  return find_row(model_facts(), model, "model").usual;
}

bool usually_normalised(const std::string& model) {
  return find_row(model_facts(), model, "model").normalised;
}

}  // namespace hewn::nn
