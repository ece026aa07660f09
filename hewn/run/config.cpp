#include "hewn/run/config.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json_file.h"
#include "hewn/core/version.h"
#include "hewn/run/costs.h"
#include "hewn/run/fields.h"

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
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (!config.contains("signature") || !config["signature"].is_object())
    throw FormatError(where, "does not say what the model takes and gives (\"signature\")");
  const Fields fields(config["signature"], where, "a run's config");
  const bool text = fields.has("text") && fields.flag("text");
  const nn::Takes takes = fields.flag("clicks") ? nn::Takes::kClicks
                          : text                ? nn::Takes::kText
                                                : nn::Takes::kValues;
  nn::Signature out{fields.wholes("input", 1, kMost), fields.whole("outputs", 1, kMost), takes,
                    fields.wholes("vocabularies", 1, kMost)};
  const bool images = takes == nn::Takes::kValues && out.input.size() == 3;
  if (out.input.size() != 1 && !images) fields.reject("input", "is not a shape that a model takes");
  if (!out.vocabularies.empty() && static_cast<int64_t>(out.vocabularies.size()) != out.input[0])
    fields.reject("vocabularies", "are not one for each field");
  return out;
}

/// A file that was edited may say what no training can have.
void check_recorded(const Options& options, const std::string& where) {
  try {
    check_options(options);
  } catch (const FormatError&) {
    throw;
  } catch (const Error& error) {
    throw FormatError(where, error.what());
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
  return config_in(run, read_json(run.config()));
}

Config config_in(const Folder& run, const Json& json) {
  const std::string where = run.config().string();
  if (!json.is_object() || !json.contains("options")) throw FormatError(where, "has no \"options\"");
  Config out;
  // What versions did that did not write it down.
  out.options.prune.rounding = "nearest";
  out.options.prune.revive = false;
  describe(out.options).from_json(json["options"], where);
  check_recorded(out.options, where);
  out.options.out = run.path.string();
  if (!out.options.costs.empty()) take_costs(out.options, read_file(run.costs()), run.costs().string());
  out.signature = signature_in(json, where);
  if (json.contains("steps")) out.steps = Fields(json, where, "a run's config").whole("steps", 0);
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
      throw Error(str(key, ": ", run.path.string(), " was started with ",
                      before.dump(-1, ' ', false, Json::error_handler_t::replace), ", cannot resume with ",
                      option.get().dump(-1, ' ', false, Json::error_handler_t::replace)));
    }
  }
  return options;
}

}  // namespace hewn::run
