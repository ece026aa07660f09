#include "hewn/optimiser_options.h"

#include "hewn/core/error.h"

namespace hewn {

kernels::UpdateKind parse_optimiser(const std::string& name) {
  if (name == "sgd") return kernels::UpdateKind::kSgd;
  if (name == "adam") return kernels::UpdateKind::kAdam;
  if (name == "adamw") return kernels::UpdateKind::kAdamW;
  throw Error(str("optimiser: expected sgd, adam or adamw, got \"", name, "\""));
}

}  // namespace hewn
