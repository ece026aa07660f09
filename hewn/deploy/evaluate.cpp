#include "hewn/deploy/evaluate.h"

#include "hewn/core/error.h"
#include "hewn/deploy/finished_run.h"
#include "hewn/dist/communicator.h"
#include "hewn/runtime/preprocessing.h"
#include "hewn/tensor/device.h"
#include "hewn/train/init.h"
#include "hewn/train/loop.h"
#include "hewn/train/network.h"
#include "hewn/train/open_data.h"

namespace hewn::deploy {
namespace {

void check_fits(const nn::Signature& model, const data::DataInfo& info) {
  const nn::Signature data = train::signature_of(info);
  if (data.input == model.input && data.outputs == model.outputs && data.clicks == model.clicks &&
      data.vocabularies == model.vocabularies) {
    return;
  }
  throw Error(
      hewn::str("data: ", info.name, " has other inputs or classes than the run's model was made for"));
}

run::Metrics evaluate_on(nn::Model& model, data::Source& source, at::Device device) {
  train::move_to(model, device, /*cudnn_benchmark=*/false);
  return train::evaluate(model, source, *dist::alone());
}

}  // namespace

run::Metrics evaluate_run(const run::Folder& run, const std::string& data, const std::string& device,
                          int64_t threads) {
  FinishedRun finished = FinishedRun::open(run);
  run::Options& options = finished.config.options;
  if (!data.empty()) options.data = data;
  const at::Device where = tensor::find_device(device);
  tensor::set_threads(threads);
  run::Observer silent;
  data::DataOptions how = train::data_options(options, where, {}, silent);
  // Rows of another table are encoded as the run's own were.
  if (!data.empty() && std::filesystem::exists(run.inputs())) {
    how.preprocessing = runtime::read_preprocessing(run.inputs(), finished.config.signature.outputs);
  }
  const auto source = data::open_source(options.data, how);
  if (data.empty()) train::check_unchanged(run, *source);
  check_fits(finished.config.signature, source->info());
  return evaluate_on(*finished.model, *source, where);
}

run::Metrics evaluate_weights(const run::Options& options, run::Observer& observer) {
  const at::Device where = tensor::find_device(options.device);
  tensor::set_threads(options.threads);
  run::Observer silent;
  const auto source = train::open_data(options, where, {}, silent);
  const auto model = train::build_model(options, train::signature_of(source->info()));
  const std::string note = train::load_weights(*model, options.init, options.init_skip).note;
  if (!note.empty()) observer.on_message(hewn::str(options.init, ": ", note));
  return evaluate_on(*model, *source, where);
}

}  // namespace hewn::deploy
