#include "hewn/train/choose_execution.h"

#include "hewn/core/error.h"
#include "hewn/prune/execution.h"

namespace hewn::train {
namespace {

/// What keeps all layers dense; null where nothing does.
const char* why_dense(const Workshop& shop) {
  if (shop.recipe().decay_dropped) return "decay-dropped";
  if (!shop.group->place().alone()) return "several processes";
  if (shop.device.is_cuda()) return shop.options.precision == "fp32" ? "precision fp32 on a GPU" : nullptr;
  return shop.options.precision != "fp32" ? "precision bf16" : nullptr;
}

}  // namespace

void choose_execution(Workshop& shop, run::Observer& observer) {
  if (shop.recipe().dense()) return;
  std::optional<std::string>& choice = shop.options.prune.sparse_execution;
  if (const char* why = why_dense(shop)) {
    if (choice.value_or("off") != "off") {
      throw Error(
          hewn::str("sparse-execution: works in one process, on the CPU in fp32 and on a GPU in bf16; leave "
                    "it out with ",
                    why));
    }
    choice = "off";
    shop.pruner->set_execution("off");
    return;
  }
  const prune::Pruner& algorithm = shop.pruner->algorithm();
  const prune::DensityLimits limits =
      choice ? prune::parse_limits(*choice, algorithm) : prune::usual_limits(algorithm);
  observer.on_message(hewn::str("on kept blocks alone up to density ", choice ? "(as given)" : "(by rule)",
                                ": ", limits.empty() ? "no layer" : prune::to_text(limits)));
  // What was given stays as it was given: a resumed run is told the same.
  if (!choice) choice = prune::to_text(limits);
  shop.pruner->set_execution(*choice);
}

}  // namespace hewn::train
