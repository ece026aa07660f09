#include "hewn/nn/model.h"

#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::nn {

#define HEWN_MODEL(function, name, help, input, outputs) \
  std::shared_ptr<Model> function(const Signature&, const ModelOptions&);
#include "hewn/nn/models.def"
#undef HEWN_MODEL

const std::vector<ModelRow>& models() {
  static const std::vector<ModelRow> kRows = {
#define HEWN_MODEL(function, name, help, input, outputs) {name, help, function, {input, outputs}},
#include "hewn/nn/models.def"
#undef HEWN_MODEL
  };
  return kRows;
}

const ModelRow& find_model(const std::string& name) {
  std::vector<std::string> names;
  for (const ModelRow& row : models()) {
    if (row.name == name) return row;
    names.emplace_back(row.name);
  }
  throw Error(str("model: unknown name \"", name, "\"; known: ", join(names)));
}

}  // namespace hewn::nn
