#include "cli/calibration.h"

#include <algorithm>
#include <cmath>

#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/core/text.h"
#include "hewn/data/inputs/image_files.h"
#include "hewn/data/inputs/image_inputs.h"
#include "hewn/io/source_kind.h"
#if HEWN_ONNX
#include "hewn/onnx/import.h"
#endif

namespace hewn::cli {
namespace {

/// Of a folder of images, unless --samples says another number.
constexpr int64_t kImages = 512;
constexpr int64_t kMostPixels = 16384;  // of a side, as the rules for images have it

// Of all ImageNet's pixels, in [0, 1]; most networks for pictures were trained so.
const std::vector<double> kMean = {0.485, 0.456, 0.406};
const std::vector<double> kDeviation = {0.229, 0.224, 0.225};

bool is_folder(const std::string& path) {
  std::error_code problem;
  return std::filesystem::is_directory(path, problem);
}

std::vector<double> numbers_of(const std::string& key, const std::vector<std::string>& texts) {
  std::vector<double> out;
  for (const std::string& text : texts) {
    out.emplace_back();
    parse_value(key, text, out.back());
  }
  return out;
}

/// Channels and pixels of a side that an input takes; 0: open.
std::pair<int64_t, int64_t> picture_of(const flow::Port& port, const CalibrationFields& fields,
                                       const std::string& name) {
  const flow::Dims& dims = port.spec.dims;
  if (port.spec.type != flow::Type::kFloat || dims.size() != 4 || (dims[1] != 1 && dims[1] != 3) ||
      (dims[2] >= 0 && dims[3] >= 0 && dims[2] != dims[3])) {
    throw Error(str("calibration: images become float of shape (?, 1 or 3, N, N), but the input ", name,
                    " takes ", refit::expected_text(port), "; expected .npy files for it"));
  }
  const int64_t size = std::max(dims[2], dims[3]);
  if (size > 0 && fields.image_size && *fields.image_size != size) {
    throw Error(str("image-size: the network takes images of ", size, "x", size));
  }
  if (size <= 0 && !fields.image_size)
    throw Error(str("image-size: expected a number, since the input ", name, " leaves it open"));
  const int64_t side = size > 0 ? size : *fields.image_size;
  if (side < 1 || side > kMostPixels)
    throw Error(str("image-size: expected 1 to ", kMostPixels, " pixels a side, got ", side));
  return {dims[1], side};
}

/// What was asked for, else what the file says, else as networks for ImageNet are evaluated.
data::ImageRule rule_for(const CalibrationFields& fields, Json json, int64_t channels, int64_t size) {
  if (json.is_null()) {
    const bool grey = channels == 1;
    json = data::ImageRule{channels, size, (size * 8 + 3) / 7, grey ? std::vector<double>{0} : kMean,
                           grey ? std::vector<double>{1} : kDeviation}
               .to_json();
  }
  if (fields.eval_resize && *fields.eval_resize > 0) json["resize"] = *fields.eval_resize;
  if (fields.eval_resize && *fields.eval_resize == 0) json.erase("resize");
  if (!fields.mean.empty()) json["mean"] = numbers_of("image-mean", fields.mean);
  if (!fields.deviation.empty()) json["std"] = numbers_of("image-std", fields.deviation);
  return data::image_rule(json, channels, size, size);
}

std::string numbers_text(const std::vector<double>& numbers) {
  std::vector<std::string> words;
  for (const double number : numbers) words.push_back(fixed(number, 3));
  return join(words);
}

std::string rule_text(const data::ImageRule& rule, size_t used, size_t all) {
  return str(used, " of ", all, " images, ",
             rule.resize > 0 ? str("short side resized to ", rule.resize, ", ") : std::string(), "middle ",
             rule.size, "x", rule.size, rule.channels == 1 ? ", grey" : "", ", pixels in [0, 1] less ",
             numbers_text(rule.mean), " over ", numbers_text(rule.deviation));
}

/// Images of a folder, spread evenly over their paths: folders are often sorted by class.
refit::Samples read_images(const std::vector<std::filesystem::path>& images, const std::string& folder,
                           int64_t samples, const data::ImageRule& rule, std::string& said) {
  const auto most = static_cast<size_t>(samples > 0 ? samples : kImages);
  const size_t used = std::min(images.size(), most);
  data::ImageInputs reader(rule);
  const auto floats = static_cast<size_t>(reader.floats());
  std::vector<float> values(used * floats);
  for (size_t i = 0; i < used; ++i) {
    const std::filesystem::path& file = images[i * images.size() / used];
    try {
      reader.read(file, values.data() + i * floats);
    } catch (const data::DamagedImage& damaged) {
      throw FormatError(file.string(), damaged.what());
    }
  }
  said = rule_text(rule, used, images.size());
  return {folder, {{static_cast<int64_t>(used), rule.channels, rule.size, rule.size}, std::move(values)}};
}

}  // namespace

void add_calibration_sources(OptionTable& table, CalibrationFields& fields, const std::string& purpose) {
  table.add("calibration", fields.from,
            purpose +
                ": .npy with one sample per row, a folder of such files or of images; NAME=FILE with "
                "commas between for several inputs");
  table
      .add("samples", fields.samples,
           "calibration samples to use; 0: all, of images 512. The first ones, of images evenly over their "
           "paths")
      .at_least(0);
}

void add_calibration_options(OptionTable& table, CalibrationFields& fields, const std::string& purpose) {
  add_calibration_sources(table, fields, purpose);
  table.add("image-size", fields.image_size, "of calibration images: pixels of a side; auto: the network's");
  table.add("eval-resize", fields.eval_resize,
            "of calibration images: short side before the middle is cut out, 0: not resized; auto: what the "
            "file says, else 8/7 of the size");
  table.add("image-mean", fields.mean,
            "of calibration images: what is taken from each channel, in [0, 1]; else what the file says, or "
            "ImageNet's");
  table.add("image-std", fields.deviation, "of calibration images: what each channel is divided by then");
}

void add_quantise_options(OptionTable& table, flow::QuantiseOptions& options) {
  table.add("percentile", options.percentile,
            "of int8: share of the numbers that bytes reach; 100: all, from the least to the largest");
  table.add("keep-f32", options.keep,
            "of int8 and bf16: names of layers that stay in 32 bits, with commas between");
}

Json image_rule_in(const std::string& model) {
#if HEWN_ONNX
  if (io::kind_of(model) != io::SourceKind::kOnnx) return nullptr;
  const auto metadata = onnx::read_metadata(model);
  const auto found = metadata.find("hewn.preprocessing");
  if (found == metadata.end()) return nullptr;
  Json json = Json::parse(found->second, nullptr, /*allow_exceptions=*/false);
  if (json.is_object() && json.contains("kind") && json["kind"] == "image") return json;
#else
  static_cast<void>(model);
#endif
  return nullptr;
}

Calibration read_calibration(const flow::Graph& graph, const Json& images_rule,
                             const CalibrationFields& fields, int64_t most) {
  Calibration out;
  std::vector<refit::Samples> samples(graph.inputs.size());
  for (const std::string& text : fields.from) {
    const auto [input, path] = refit::calibration_path(graph, text);
    const flow::Port& port = graph.inputs[input];
    const std::string& name = graph.name(port.value);
    if (!samples[input].where.empty())
      throw Error(str("calibration: there are two files for the input ", name));
    std::vector<std::filesystem::path> images;
    if (is_folder(path)) images = data::find_images(path).images;
    if (images.empty()) {
      samples[input] = refit::read_samples(port, path, fields.samples);
      continue;
    }
    if (graph.inputs.size() > 1) {
      throw Error(str("calibration: ", path,
                      " has images, which go with networks of one input; this one has ",
                      graph.inputs.size()));
    }
    const auto [channels, size] = picture_of(port, fields, name);
    samples[input] =
        read_images(images, path, fields.samples, rule_for(fields, images_rule, channels, size), out.images);
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].where.empty()) continue;
    throw Error(str("calibration: there is no file for the input ", graph.name(graph.inputs[i].value), ", ",
                    refit::expected_text(graph.inputs[i])));
  }
  out.batches = refit::batches_of(graph, samples, fields.samples, most);
  return out;
}

}  // namespace hewn::cli
