// Images a second that an image folder delivers to a device, by number of workers: nothing is done with them.
//   image_batches FOLDER SIZE BATCH DEVICE SECONDS WORKERS...
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "hewn/core/json.h"
#include "hewn/data/source.h"

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double images_per_second(const std::string& folder, const hewn::data::DataOptions& options, double seconds) {
  const auto source = hewn::data::open_source("imagefolder:" + folder, options);
  const int64_t batches = source->train_batches();
  constexpr int64_t kFirst = 4;  // those that were made while nobody waited do not count
  int64_t step = 0;
  double begin = 0;
  for (; step <= kFirst || now() - begin < seconds; ++step) {
    if (step == kFirst) begin = now();
    const hewn::data::Batch batch = source->train_batch(step / batches, step % batches);
    // Waits for the device: a copy that is still on its way does not count.
    if (batch.input.numel() == 0 || batch.target[0].item<int64_t>() < 0) return 0;
  }
  return static_cast<double>((step - kFirst) * options.batch) / (now() - begin);
}

}  // namespace

int main(int count, char** words) {
  if (count < 7) {
    std::cerr << "usage: image_batches FOLDER SIZE BATCH DEVICE SECONDS WORKERS...\n";
    return 2;
  }
  hewn::data::DataOptions options;
  options.folders.image_size = std::atoll(words[2]);
  options.batch = std::atoll(words[3]);
  options.device = at::Device(words[4]);
  hewn::Json out = hewn::Json::array();
  for (int i = 6; i < count; ++i) {
    options.folders.workers = std::atoll(words[i]);
    const double rate = images_per_second(words[1], options, std::atof(words[5]));
    out.push_back({{"workers", options.folders.workers}, {"images_per_second", rate}});
  }
  std::cout << out.dump() << '\n';
  return 0;
}
