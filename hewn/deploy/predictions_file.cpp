#include "hewn/deploy/predictions_file.h"

#include <sstream>

#include "hewn/core/files.h"
#include "hewn/core/suffix.h"
#include "hewn/io/npz.h"
#include "hewn/io/safetensors.h"

namespace hewn::deploy {
namespace {

std::string predictions_suffix(const std::filesystem::path& path) {
  return known_suffix("out", path, {".csv", ".npy", ".npz", ".json"});
}

std::string predictions_csv(const Predictions& predictions) {
  std::ostringstream text;
  text.precision(predictions.classifies() ? 6 : 9);
  text << (predictions.classifies() ? "sample,class,score\n" : "sample,output\n");
  for (int64_t i = 0; i < predictions.samples; ++i) {
    text << i << ',';
    if (predictions.classifies()) {
      text << predictions.class_of(i) << ',' << predictions.score_of(i) << '\n';
    } else {
      text << predictions.logits[static_cast<size_t>(i)] << '\n';
    }
  }
  return text.str();
}

}  // namespace

void check_predictions_file(const std::filesystem::path& path) { predictions_suffix(path); }

void write_predictions(const std::filesystem::path& path, const Predictions& predictions) {
  const std::string suffix = predictions_suffix(path);
  if (suffix == ".csv") {
    write_file_atomically(path, predictions_csv(predictions));
  } else if (suffix == ".json") {
    write_file_atomically(path, to_json(predictions).dump() + "\n");
  } else {
    const std::string array =
        io::npy_bytes(predictions.samples, predictions.outputs, predictions.logits.data());
    if (suffix == ".npy") {
      write_file_atomically(path, array);
    } else {
      io::write_npz(path, {{"output", array}});
    }
  }
}

Json to_json(const Predictions& predictions) {
  Json out = {{"samples", predictions.samples}, {"outputs", predictions.outputs}};
  if (!predictions.classes.empty()) out["classes"] = predictions.classes;
  Json rows = Json::array();
  for (int64_t i = 0; i < predictions.samples; ++i) {
    if (predictions.classifies()) {
      out["class"].push_back(predictions.class_of(i));
      out["score"].push_back(predictions.score_of(i));
    }
    const auto begin = predictions.logits.begin() + i * predictions.outputs;
    rows.push_back(std::vector<float>(begin, begin + predictions.outputs));
  }
  out["output"] = std::move(rows);
  return out;
}

void write_logits(const std::filesystem::path& path, const Predictions& predictions) {
  io::write_safetensors(path, {},
                        {{"logits",
                          {io::DType::kF32,
                           {predictions.samples, predictions.outputs},
                           std::as_bytes(std::span(predictions.logits))}}});
}

}  // namespace hewn::deploy
