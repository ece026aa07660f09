#include "hewn/deploy/predictions_file.h"

#include <sstream>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/suffix.h"
#include "hewn/io/npz.h"
#include "hewn/io/safetensors.h"

namespace hewn::deploy {
namespace {

std::string predictions_suffix(const std::filesystem::path& path) {
  return known_suffix("out", path, {".csv", ".npy", ".npz", ".json"});
}

/// As CSV wants it: in quotes where it has to be.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

/// A classifier's CSV file. The first three columns are always the same.
class CsvLines {
 public:
  CsvLines(const Predictions& predictions, int64_t top_k) : predictions_(predictions), top_k_(top_k) {
    text_.precision(6);
    text_ << "sample";
    for (int64_t j = 1; j <= top_k; ++j) {
      const std::string behind = j == 1 ? "" : hewn::str("_", j);
      text_ << ",class" << behind << ",score" << behind;
      if (!predictions.classes.empty()) text_ << ",name" << behind;
      if (j == 1 && !predictions.files.empty()) text_ << ",file";
    }
    text_ << '\n';
  }

  void add(int64_t sample) {
    text_ << sample;
    add_class(predictions_.class_of(sample), predictions_.score_of(sample));
    if (!predictions_.files.empty())
      text_ << ',' << csv_cell(predictions_.files[static_cast<size_t>(sample)]);
    if (top_k_ > 1) {
      const std::vector<int64_t> top = predictions_.top_of(sample, top_k_);
      for (size_t j = 1; j < top.size(); ++j) add_class(top[j], predictions_.probability_of(sample, top[j]));
    }
    text_ << '\n';
  }

  std::string text() const { return text_.str(); }

 private:
  void add_class(int64_t number, double score) {
    text_ << ',' << number << ',' << score;
    if (!predictions_.classes.empty())
      text_ << ',' << csv_cell(predictions_.classes[static_cast<size_t>(number)]);
  }

  const Predictions& predictions_;
  int64_t top_k_;
  std::ostringstream text_;
};

std::string predictions_csv(const Predictions& predictions, int64_t top_k) {
  if (predictions.classifies()) {
    CsvLines lines(predictions, top_k);
    for (int64_t i = 0; i < predictions.samples; ++i) lines.add(i);
    return lines.text();
  }
  std::ostringstream text;
  text.precision(9);
  text << (predictions.files.empty() ? "sample,output\n" : "sample,output,file\n");
  for (int64_t i = 0; i < predictions.samples; ++i) {
    text << i << ',' << predictions.logits[static_cast<size_t>(i)];
    if (!predictions.files.empty()) text << ',' << csv_cell(predictions.files[static_cast<size_t>(i)]);
    text << '\n';
  }
  return text.str();
}

/// Text from outside, which may be no UTF-8.
std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

void check_predictions_file(const std::filesystem::path& path) { predictions_suffix(path); }

void check_top_k(int64_t top_k, const Predictions& predictions) {
  if (top_k == 1 || (top_k > 1 && top_k <= predictions.outputs)) return;
  throw Error(predictions.outputs > 1
                  ? hewn::str("top-k: expected 1 to ", predictions.outputs, ", got ", top_k)
                  : hewn::str("top-k: the model has one output only, expected 1, got ", top_k));
}

void write_predictions(const std::filesystem::path& path, const Predictions& predictions, int64_t top_k) {
  const std::string suffix = predictions_suffix(path);
  if (suffix == ".csv") {
    write_file_atomically(path, predictions_csv(predictions, top_k));
  } else if (suffix == ".json") {
    write_file_atomically(path, json_text(to_json(predictions, top_k)) + "\n");
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

Json to_json(const Predictions& predictions, int64_t top_k) {
  Json out = {{"samples", predictions.samples}, {"outputs", predictions.outputs}};
  if (!predictions.classes.empty()) out["classes"] = predictions.classes;
  if (!predictions.files.empty()) out["file"] = predictions.files;
  Json rows = Json::array();
  const auto name_of = [&](int64_t number) { return predictions.classes[static_cast<size_t>(number)]; };
  for (int64_t i = 0; i < predictions.samples; ++i) {
    if (predictions.classifies()) {
      out["class"].push_back(predictions.class_of(i));
      if (!predictions.classes.empty()) out["name"].push_back(name_of(predictions.class_of(i)));
      out["score"].push_back(predictions.score_of(i));
    }
    if (top_k > 1) {
      Json top = Json::array();
      for (const int64_t one : predictions.top_of(i, top_k)) {
        Json entry = {{"class", one}};
        if (!predictions.classes.empty()) entry["name"] = name_of(one);
        entry["score"] = predictions.probability_of(i, one);
        top.push_back(std::move(entry));
      }
      out["top"].push_back(std::move(top));
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
