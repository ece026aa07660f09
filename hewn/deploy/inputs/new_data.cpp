#include "hewn/deploy/inputs/new_data.h"

#include <iterator>
#include <optional>

#include "hewn/core/error.h"
#include "hewn/data/clicks/text/source_files.h"
#include "hewn/data/inputs/click_inputs.h"
#include "hewn/deploy/inputs/image_batches.h"
#include "hewn/deploy/inputs/predictor.h"
#include "hewn/deploy/samples.h"
#include "hewn/io/npy.h"
#include "hewn/io/source_kind.h"

namespace hewn::deploy {
namespace {

constexpr int64_t kRowsAtATime = 4096;
const std::string kStandardInput = "standard input";

/// What the model's preprocessing can read; neither where it says nothing that this version knows.
struct RawReaders {
  std::optional<ImageBatches> images;
  std::optional<data::ClickInputs> clicks;
};

RawReaders raw_readers(const OpenModel& model, const NewDataOptions& options) {
  RawReaders out;
  const Json& rule = model.preprocessing();
  if (!rule.is_object() || !rule.contains("kind")) return out;
  const auto [channels, height, width] = model.input_shape();
  std::optional<data::ImageRule> images;
  try {
    if (rule["kind"] == "image") {
      images = data::image_rule(rule, channels, height, width);
    } else if (rule["kind"] == "clicks") {
      out.clicks.emplace(data::click_rule(rule, model.arrays(), model.vocabularies()));
    }
  } catch (const Error& error) {
    throw Error(hewn::str("the model's preprocessing: ", error.what()));
  }
  if (images) out.images.emplace(*images, options);
  return out;
}

/// All arguments in their order.
class NewData {
 public:
  NewData(OpenModel& model, const NewDataOptions& options)
      : model_(model),
        readers_(raw_readers(model, options)),
        predictor_(model, options.batch, options.limit) {}

  void add(const std::string& argument) {
    const io::SourceKind kind = io::kind_of(argument);
    if (kind == io::SourceKind::kImage && readers_.images) {
      files_.emplace_back(argument);  // several in a row are decoded together
      return;
    }
    add_waiting_images();
    if (kind == io::SourceKind::kFolder && readers_.images) {
      readers_.images->predict_folder(argument, predictor_);
    } else if (kind == io::SourceKind::kFolder && readers_.clicks) {
      for (const data::SourceFile& log : data::find_files("log", argument)) add_log(log.path);
    } else if (kind == io::SourceKind::kUnknown && readers_.clicks) {
      add_log(argument);
    } else {
      Samples samples;
      add_samples(argument, model_, samples);
      predictor_.add(samples.values.data(), samples.count);
    }
  }

  void add_bytes(std::string bytes) {
    add_waiting_images();
    if (readers_.images && io::starts_as_image(bytes)) {
      readers_.images->predict_bytes(bytes, kStandardInput, predictor_);
    } else if (readers_.clicks && !io::starts_as_npy(bytes)) {
      readers_.clicks->read(data::text_of(std::move(bytes)), kStandardInput, kRowsAtATime, take());
    } else {
      Samples samples;
      add_samples(bytes, kStandardInput, model_, samples);
      predictor_.add(samples.values.data(), samples.count);
    }
  }

  Predictions finish() {
    add_waiting_images();
    Predictions out = predictor_.finish();
    if (out.samples == 0) throw Error("predict: there are no samples in what was given");
    return out;
  }

 private:
  void add_waiting_images() {
    if (!files_.empty()) readers_.images->predict_files(files_, predictor_);
    files_.clear();
  }

  void add_log(const std::filesystem::path& path) { readers_.clicks->read(path, kRowsAtATime, take()); }

  data::ClickInputs::Take take() {
    return [this](const float* rows, int64_t count) { return predictor_.add(rows, count); };
  }

  OpenModel& model_;
  RawReaders readers_;
  Predictor predictor_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace

Predictions predict(OpenModel& model, const std::vector<std::string>& arguments, std::istream& standard_input,
                    const NewDataOptions& options) {
  NewData data(model, options);
  for (const std::string& argument : arguments) {
    if (argument == "-") {
      data.add_bytes({std::istreambuf_iterator<char>(standard_input), {}});
    } else {
      data.add(argument);
    }
  }
  return data.finish();
}

}  // namespace hewn::deploy
