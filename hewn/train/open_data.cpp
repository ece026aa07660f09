#include "hewn/train/open_data.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/tables/encoding.h"
#include "hewn/run/config.h"
#include "hewn/run/stopped.h"
#include "hewn/runtime/preprocessing.h"

namespace hewn::train {

data::DataOptions data_options(const run::Options& options, c10::Device device, const dist::Place& place,
                               run::Observer& observer) {
  data::DataOptions out;
  out.share = {place.rank, place.size};
  out.batch = options.batch;
  out.seed = static_cast<uint64_t>(options.seed);
  out.augment = options.augment;
  out.device = device;
  out.evaluate_on = run::evaluated_part(options);
  out.clicks = options.clicks;
  out.folders = options.folders;
  out.tables = options.tables;
  out.text = options.text;
  out.on_message = [&observer](const std::string& text) { observer.on_message(text); };
  out.on_preparation = [&observer](const data::Preparation& now) {
    observer.on_preparation(now);
    if (observer.stop_requested()) throw run::Stopped("stopped while data were made ready");
  };
  return out;
}

std::unique_ptr<data::Source> open_data(const run::Options& options, c10::Device device,
                                        const dist::Place& place, run::Observer& observer) {
  return data::open_source(options.data, data_options(options, device, place, observer));
}

void check_unchanged(const run::Folder& run, const data::Source& source) {
  const bool text = source.info().kind == data::Kind::kText;
  if ((source.info().name != "csv" && !text) || !is_there(run.inputs())) return;
  // The table may have other classes by now.
  const int64_t outputs = run::read_config(run).signature.outputs;
  const Preprocessing before = runtime::read_preprocessing(run.inputs(), outputs);
  const Preprocessing now = source.preprocessing();
  if (before.rule == now.rule && before.classes == now.classes && before.arrays == now.arrays) return;
  throw Error(hewn::str("data: the ", text ? "text" : "table", " is not what it was when ", run.path.string(),
                        " was started"));
}

}  // namespace hewn::train
