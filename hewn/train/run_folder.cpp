#include "hewn/train/run_folder.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::train {

RunFolder fresh_run_folder(const TrainOptions& options) {
  const std::string data = options.data.substr(0, options.data.find(':'));
  std::string model = options.model;
  std::replace(model.begin(), model.end(), '/', '-');  // a folder's name, not a path
  const std::string name =
      str("runs/", data, "-", model, "-", options.prune.method.value_or("auto"), "-b",
          short_text(options.prune.block), "-s", options.prune.sparsity, "-seed", options.seed);
  RunFolder run{name};
  for (int n = 2; std::filesystem::exists(run.path); ++n) run.path = str(name, "-", n);
  return run;
}

void write_json(const std::filesystem::path& path, const Json& json) {
  write_file_atomically(path, json.dump(2) + "\n");
}

Json read_json(const std::filesystem::path& path) {
  Json json = Json::parse(read_file(path), nullptr, false);
  if (json.is_discarded()) throw FormatError(path.string(), "is not valid JSON");
  return json;
}

TrainOptions read_config(const RunFolder& run) {
  if (!run.started()) throw Error(str(run.path.string(), ": is not a run folder: it has no config.json"));
  TrainOptions options;
  const Json config = read_json(run.config());
  if (!config.is_object() || !config.contains("options")) {
    throw FormatError(run.config().string(), "has no \"options\"");
  }
  describe(options).from_json(config["options"], run.config().string());
  options.out = run.path.string();
  return options;
}

Json to_json(const nn::Signature& signature) {
  return {{"input", signature.input},
          {"outputs", signature.outputs},
          {"clicks", signature.clicks},
          {"vocabularies", signature.vocabularies}};
}

nn::Signature read_signature(const RunFolder& run) {
  try {
    const Json json = read_json(run.config()).at("signature");
    return {json.at("input").get<std::vector<int64_t>>(), json.at("outputs").get<int64_t>(),
            json.at("clicks").get<bool>(), json.at("vocabularies").get<std::vector<int64_t>>()};
  } catch (const Json::exception&) {
    throw FormatError(run.config().string(), "does not say what the model takes and gives (\"signature\")");
  }
}

TrainOptions resumed_options(const RunFolder& run, const std::map<std::string, std::string>& given) {
  TrainOptions options = read_config(run);
  const OptionTable table = describe(options);
  for (const auto& [key, text] : given) {
    if (key == "out") continue;
    const Option& option = table.find(key, "command line");
    const Json before = option.get();
    option.parse(text);
    if (option.get() != before && !may_change_on_resume(key)) {
      throw Error(str(key, ": ", run.path.string(), " was started with ", before.dump(),
                      ", cannot resume with ", option.get().dump()));
    }
  }
  return options;
}

}  // namespace hewn::train
