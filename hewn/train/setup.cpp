#include "hewn/train/setup.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <sched.h>
#include <torch/cuda.h>
#include <torch/utils.h>

#include <algorithm>
#include <charconv>

#include "hewn/core/error.h"
#include "hewn/kernels/cuda/cuda.h"

namespace hewn::train {

int64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

int64_t set_threads(int64_t threads, const dist::Place& place) {
  if (threads < 0) throw Error(hewn::str("threads: expected 0 or more, got ", threads));
  const int64_t share = std::max<int64_t>(1, usable_cores() / place.local_size);
  const int64_t count = threads == 0 ? share : threads;
  at::set_num_threads(static_cast<int>(count));
  // OpenBLAS has a thread pool of its own, which LibTorch's setting does not reach.
  using SetThreads = void (*)(int);
  if (const auto set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) {
    set(static_cast<int>(count));
  }
  return count;
}

at::Device find_device(const std::string& name, const dist::Place& place) {
  if (name == "cpu") return at::kCPU;
  if (name != "cuda" && !name.starts_with("cuda:")) {
    throw Error(hewn::str("device: expected cpu, cuda or cuda:N, got \"", name, "\""));
  }
  auto index = static_cast<int>(place.local_rank);
  if (name.starts_with("cuda:")) {
    const char* end = name.data() + name.size();
    const auto [stop, problem] = std::from_chars(name.data() + 5, end, index);
    if (problem != std::errc() || stop != end || index < 0) {
      throw Error(hewn::str("device: expected cuda:N with a number, got \"", name, "\""));
    }
  }
  if (!kernels::cuda::built()) {
    throw Error(hewn::str("device ", name, ": this build has no CUDA; configure with -DHEWN_CUDA=ON"));
  }
  const auto count = static_cast<int>(torch::cuda::device_count());
  if (index >= count) throw Error(hewn::str("device ", name, ": not there; CUDA devices found: ", count));
  return {at::kCUDA, static_cast<at::DeviceIndex>(index)};
}

data::DataOptions data_options(const TrainOptions& options, at::Device device, const dist::Place& place,
                               Observer& observer) {
  data::DataOptions out;
  out.share = {place.rank, place.size};
  out.batch = options.batch;
  out.seed = static_cast<uint64_t>(options.seed);
  out.augment = !options.no_augment;
  out.device = device;
  out.evaluate_on = evaluated_part(options);
  out.clicks = options.clicks;
  out.folders = options.folders;
  out.on_message = [&observer](const std::string& text) { observer.on_message(text); };
  out.on_preparation = [&observer](const data::Preparation& now) { observer.on_preparation(now); };
  return out;
}

nn::Signature signature_for(const std::string& model, const std::string& source) {
  if (source.empty()) return nn::find_model(model).usual;
  std::string path;
  const data::DataInfo& info = data::find_source(source, &path).info;
  // An image folder says its classes and a table its columns only when it is open.
  return info.classes == 0 || info.input.empty() ? nn::find_model(model).usual : signature_of(info);
}

nn::Signature signature_of(const data::DataInfo& info) {
  return {info.input, info.classes, info.kind == data::Kind::kClicks, info.vocabularies};
}

std::shared_ptr<nn::Model> build_model(const TrainOptions& options, const nn::Signature& signature) {
  if (options.width < 1) throw Error(hewn::str("width: expected at least 1, got ", options.width));
  const nn::ModelRow& row = nn::find_model(options.model);
  if (row.usual.clicks != signature.clicks) {
    throw Error(hewn::str("model ", row.name, ": takes ", row.usual.clicks ? "click logs" : "images",
                          ", not ", signature.clicks ? "click logs" : "images"));
  }
  torch::manual_seed(static_cast<uint64_t>(options.seed));
  return row.make(signature, {options.widths, options.width, options.embedding});
}

void move_to(nn::Model& model, at::Device device, bool cudnn_benchmark) {
  model.to(device);
  if (!device.is_cuda()) return;
  at::globalContext().setDeterministicCuDNN(!cudnn_benchmark);
  at::globalContext().setBenchmarkCuDNN(cudnn_benchmark);
  for (at::Tensor& parameter : model.parameters()) {
    if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
  }
}

OptimiserOptions optimiser_options(const TrainOptions& options) {
  OptimiserOptions out;
  out.kind = options.optimizer;
  out.weight_decay = options.weight_decay;
  out.decay_all = options.decay_all;
  out.momentum = options.momentum;
  out.nesterov = !options.no_nesterov;
  return out;
}

}  // namespace hewn::train
