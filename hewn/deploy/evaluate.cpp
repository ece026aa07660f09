#include "hewn/deploy/evaluate.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/deploy/finished_run.h"
#include "hewn/dist/communicator.h"
#include "hewn/runtime/preprocessing.h"
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

run::Metrics evaluate_on(nn::Model& model, data::Source& source, at::Device device, run::Observer& observer) {
  train::move_to(model, device, /*cudnn_benchmark=*/false);
  return train::evaluate(model, source, *dist::alone(), observer);
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
  return {run::evaluated_part(options), evaluate_on(*finished.model, *source, where, observer)};
}

Evaluated evaluate_weights(const run::Options& options, run::Observer& observer) {
  const at::Device where = tensor::find_device(options.device);
  tensor::set_threads(options.threads);
  const auto source = train::open_data(options, where, {}, observer);
  const auto model = train::build_model(options, train::signature_of(source->info()));
  const std::string note = train::load_weights(*model, options.init, options.init_skip).note;
  if (!note.empty()) observer.on_message(hewn::str(options.init, ": ", note));
  return {run::evaluated_part(options), evaluate_on(*model, *source, where, observer)};
}

}  // namespace hewn::deploy
