#include "hewn/train/teacher.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/init.h"
#include "hewn/train/network.h"
#include "hewn/train/workshop.h"

namespace hewn::train {
namespace {

uint32_t crc_of(const std::map<std::string, at::Tensor>& weights) {
  uint32_t crc = 0;
  for (const auto& [name, tensor] : weights) {
    const at::Tensor bytes = tensor.detach().cpu().contiguous();
    crc = crc32(name, crc);
    crc = crc32({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()}, crc);
  }
  return crc;
}

/// Returns what there is to say of the file.
std::string read_teacher(nn::Model& model, const std::filesystem::path& path) {
  try {
    return load_weights(model, path, std::nullopt).note;
  } catch (const Error& error) {
    throw Error(hewn::str("teacher: ", error.what()));
  }
}

}  // namespace

std::optional<double> temperature_for(const run::Options& options, const Task& task) {
  const std::optional<double> usual = task.usual_temperature();
  if (options.temperature && !usual) {
    throw Error("temperature: is for classes and clicks; leave it out for regression");
  }
  return options.temperature ? options.temperature : usual;
}

std::shared_ptr<const Teacher> load_teacher(const Workshop& shop, const std::filesystem::path& path,
                                            run::Observer& observer) {
  const run::Options& options = shop.options;
  Teacher out;
  out.name = path.string();
  out.model = build_model(options, signature_of(shop.source->info()));
  const std::string note = shop.group->place().first() ? read_teacher(*out.model, path) : "";
  if (!note.empty()) observer.on_message(hewn::str(out.name, ": ", note));
  move_to(*out.model, shop.device, options.cudnn_benchmark);
  const std::map<std::string, at::Tensor> weights = tensor::state_dict(*out.model);
  for (const auto& [name, tensor] : weights) shop.group->broadcast(tensor.detach());
  out.crc = crc_of(weights);
  out.model->eval();
  for (at::Tensor& parameter : out.model->parameters()) parameter.set_requires_grad(false);
  out.share = options.teacher_share;
  out.temperature = options.temperature.value_or(1);
  observer.on_message(
      hewn::str("teacher ", out.name, ": share ", out.share,
                options.temperature ? hewn::str(", temperature ", out.temperature) : std::string()));
  return std::make_shared<const Teacher>(std::move(out));
}

void check_is_another(const std::string& teacher, const std::filesystem::path& run) {
  namespace fs = std::filesystem;
  if (teacher.empty() || teacher == run::kSelfDense) return;
  const fs::path inside = fs::weakly_canonical(teacher).lexically_relative(fs::weakly_canonical(run));
  if (inside.empty() || *inside.begin() == "..") return;
  throw Error(hewn::str("teacher: ", teacher,
                        " is part of the run that it is to teach; its dense model is self-dense"));
}

void check_same_teacher(const Teacher& teacher, uint32_t crc) {
  if (teacher.crc == crc) return;
  throw Error(hewn::str("teacher: ", teacher.name,
                        " has other weights than those that the run has learned from so far"));
}

}  // namespace hewn::train
