#include "hewn/train/open_data.h"

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
  out.on_message = [&observer](const std::string& text) { observer.on_message(text); };
  out.on_preparation = [&observer](const data::Preparation& now) { observer.on_preparation(now); };
  return out;
}

std::unique_ptr<data::Source> open_data(const run::Options& options, c10::Device device,
                                        const dist::Place& place, run::Observer& observer) {
  return data::open_source(options.data, data_options(options, device, place, observer));
}

}  // namespace hewn::train
