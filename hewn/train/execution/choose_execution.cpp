#include "hewn/train/execution/choose_execution.h"

#include "hewn/core/error.h"

namespace hewn::train {
namespace {

/// What keeps all layers dense; null where nothing does.
const char* why_dense(const Workshop& shop) {
  if (shop.device.is_cuda()) return "device cuda";
  if (!shop.group->place().alone()) return "several processes";
  return shop.options.precision != "fp32" ? "precision bf16" : nullptr;
}

}  // namespace

Calibration choose_execution(Workshop& shop, run::Observer& observer) {
  Calibration calibration;
  if (shop.recipe().dense()) return calibration;
  std::optional<std::string>& choice = shop.options.prune.sparse_execution;
  if (const char* why = why_dense(shop)) {
    if (choice.value_or("off") != "off") {
      throw Error(hewn::str(
          "sparse-execution: works on the CPU, in fp32 and in one process; leave it out with ", why));
    }
    choice = "off";
    shop.pruner->set_execution("off");
    return calibration;
  }
  prune::Pruner& algorithm = shop.pruner->algorithm();
  if (choice) {
    const prune::DensityLimits limits = prune::parse_limits(*choice, algorithm);
    observer.on_message(hewn::str("sparse execution as given: ", prune::to_text(limits)));
  } else {
    calibration = calibrate(*shop.model, algorithm, shop.source->train_batch(0, 0).input);
    observer.on_message(describe(calibration));
    choice = prune::to_text(limits_of(calibration));
  }
  shop.pruner->set_execution(*choice);
  return calibration;
}

}  // namespace hewn::train
