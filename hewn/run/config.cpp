#include "hewn/run/config.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json_file.h"
#include "hewn/core/version.h"
#include "hewn/run/costs.h"

namespace hewn::run {
namespace {

Json to_json(const nn::Signature& signature) {
  return {{"input", signature.input},
          {"outputs", signature.outputs},
          {"clicks", signature.takes == nn::Takes::kClicks},
          {"text", signature.takes == nn::Takes::kText},
          {"vocabularies", signature.vocabularies}};
}

nn::Signature signature_in(const Json& config, const std::string& where) {
  try {
    const Json& json = config.at("signature");
    const nn::Takes takes = json.at("clicks").get<bool>() ? nn::Takes::kClicks
                            : json.value("text", false)   ? nn::Takes::kText
                                                          : nn::Takes::kValues;
    return {json.at("input").get<std::vector<int64_t>>(), json.at("outputs").get<int64_t>(), takes,
            json.at("vocabularies").get<std::vector<int64_t>>()};
  } catch (const Json::exception&) {
    throw FormatError(where, "does not say what the model takes and gives (\"signature\")");
  }
}

}  // namespace

Json Config::options_json() const {
  Options copy = options;
  return describe(copy).to_json();
}

void write_config(const Folder& run, const Config& config) {
  write_json(run.config(), {{"hewn", kVersion},
                            {"libtorch", config.libtorch},
                            {"steps", config.steps},
                            {"signature", to_json(config.signature)},
                            {"options", config.options_json()}});
}

Config read_config(const Folder& run) {
  if (!run.started()) throw Error(str(run.path.string(), ": is not a run folder: it has no config.json"));
  const std::string where = run.config().string();
  const Json json = read_json(run.config());
  if (!json.is_object() || !json.contains("options")) throw FormatError(where, "has no \"options\"");
  Config out;
  // What versions did that did not write it down.
  out.options.prune.rounding = "nearest";
  out.options.prune.revive = false;
  describe(out.options).from_json(json["options"], where);
  out.options.out = run.path.string();
  if (!out.options.costs.empty()) take_costs(out.options, read_file(run.costs()), run.costs().string());
  out.signature = signature_in(json, where);
  const auto steps = json.find("steps");
  if (steps != json.end() && steps->is_number_integer()) out.steps = steps->get<int64_t>();
  return out;
}

Options resumed_options(const Folder& run, const std::map<std::string, std::string>& given) {
  Options options = read_config(run).options;
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

}  // namespace hewn::run
