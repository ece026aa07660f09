#include "hewn/deploy/evaluate.h"

#include <c10/core/DeviceGuard.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/deploy/finished_run.h"
#include "hewn/deploy/gpu/on_device.h"
#include "hewn/dist/communicator.h"
#include "hewn/runtime/preprocessing.h"
#include "hewn/save.h"
#include "hewn/tensor/device.h"
#include "hewn/train/evaluate.h"
#include "hewn/train/init.h"
#include "hewn/train/network.h"
#include "hewn/train/open_data.h"

namespace hewn::deploy {
namespace {

void check_fits(const nn::Signature& model, const data::DataInfo& info) {
  const nn::Signature data = train::signature_of(info);
  if (data.input == model.input && data.outputs == model.outputs && data.takes == model.takes &&
      data.vocabularies == model.vocabularies) {
    return;
  }
  throw Error(
      hewn::str("data: ", info.name, " has other inputs or classes than the run's model was made for"));
}

/// A network, and where and how it is evaluated.
struct Subject {
  std::shared_ptr<nn::Model> model;
  std::vector<int64_t> input;
  Blocks blocks;
  at::Device device;
  std::string precision;
};

Evaluated evaluate_on(const Subject& subject, data::Source& source, const run::Options& options,
                      run::Observer& observer) {
  const c10::DeviceGuard guard(subject.device);  // what kernels can do is asked of the current device
  const OnDevice ready = move_trained(subject.model, subject.input, subject.blocks, subject.device,
                                      train::parse_precision(subject.precision));
  return {run::evaluated_part(options), train::evaluate(*ready.model, source, *dist::alone(), observer),
          ready.on_kept_blocks};
}

}  // namespace

Evaluated evaluate_run(const run::Folder& run, const run::Options& given, run::Observer& observer) {
  FinishedRun finished = FinishedRun::open(run);
  run::Options& options = finished.config.options;
  if (!given.data.empty()) options.data = given.data;
  const at::Device where = tensor::find_device(given.device);
  tensor::set_threads(given.threads);
  data::DataOptions how = train::data_options(options, where, {}, observer);
  // Rows of another table are encoded as the run's own were.
  if (!given.data.empty() && is_there(run.inputs())) {
    how.preprocessing = runtime::read_preprocessing(run.inputs(), finished.config.signature.outputs);
  }
  const auto source = data::open_source(options.data, how);
  if (given.data.empty()) train::check_unchanged(run, *source);
  check_fits(finished.config.signature, source->info());
  if (given.precision.empty() && where.is_cpu() && options.precision == "bf16")
    observer.on_message("evaluated in fp32: the run's own bf16 is for GPUs");
  const Subject subject{finished.model, finished.config.signature.input, finished.blocks, where,
                        given.precision.empty() ? options.precision : given.precision};
  return evaluate_on(subject, *source, options, observer);
}

Evaluated evaluate_weights(const run::Options& options, run::Observer& observer) {
  const at::Device where = tensor::find_device(options.device);
  tensor::set_threads(options.threads);
  const auto source = train::open_data(options, where, {}, observer);
  const auto model = train::build_model(options, train::signature_of(source->info()));
  const tensor::TensorFile file = train::load_weights(*model, options.init, options.init_skip);
  if (!file.note.empty()) observer.on_message(hewn::str(options.init, ": ", file.note));
  const Blocks blocks = lists_blocks(file) ? blocks_in(file, options.init) : Blocks();
  const Subject subject{model, source->info().input, blocks, where, options.precision};
  return evaluate_on(subject, *source, options, observer);
}

}  // namespace hewn::deploy
