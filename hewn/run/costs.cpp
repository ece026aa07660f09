#include "hewn/run/costs.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/version.h"

namespace hewn::run {
namespace {

constexpr int kCostsDepth = 4;
constexpr double kMostMs = 1e6;  // of a layer: sums in picoseconds stay whole numbers

/// One object of the file: keys are taken one after the other, and none may be left.
class CostKeys {
 public:
  CostKeys(const Json& json, std::string file, std::string prefix)
      : json_(json), file_(std::move(file)), prefix_(std::move(prefix)) {
    if (!json.is_object())
      throw FormatError(file_, prefix_.empty() ? "is not a file of costs (hewn advise --costs)"
                                               : str("\"", prefix_.substr(0, prefix_.size() - 1),
                                                     "\": expected an object"));
  }

  std::string text(const char* key) {
    const Json& value = at(key);
    if (!value.is_string()) reject(key, "a text");
    return value.get<std::string>();
  }
  int64_t count(const char* key) {
    const Json& value = at(key);
    return whole(value) ? value.get<int64_t>() : reject(key, "a whole number above 0");
  }
  std::vector<int64_t> counts(const char* key) {
    const Json& value = at(key);
    if (!value.is_array() || value.empty()) reject(key, "a list of whole numbers above 0");
    std::vector<int64_t> out;
    for (const Json& one : value)
      out.push_back(whole(one) ? one.get<int64_t>() : reject(key, "a list of whole numbers above 0"));
    return out;
  }
  double ms(const char* key, bool may_be_zero) {
    const Json& value = at(key);
    const double number = value.is_number() ? value.get<double>() : NAN;
    const bool fits = std::isfinite(number) && number < kMostMs && (may_be_zero ? number >= 0 : number > 0);
    if (!fits) reject(key, may_be_zero ? "milliseconds, 0 or more" : "milliseconds above 0");
    return number;
  }
  const Json& at(const char* key) {
    const auto found = json_.find(key);
    if (found == json_.end()) throw FormatError(file_, str("has no \"", prefix_, key, "\""));
    taken_.emplace_back(key);
    return *found;
  }
  void end() const {
    for (const auto& [key, value] : json_.items()) {
      if (std::find(taken_.begin(), taken_.end(), key) == taken_.end())
        throw FormatError(file_, str("\"", prefix_, key, "\": is not part of a file of costs"));
    }
  }
  [[noreturn]] int64_t reject(const char* key, const char* expected) const {
    throw FormatError(file_, str("\"", prefix_, key, "\": expected ", expected));
  }

 private:
  static bool whole(const Json& value) { return value.is_number_integer() && value.get<int64_t>() > 0; }

  const Json& json_;
  std::string file_;
  std::string prefix_;
  std::vector<std::string> taken_;
};

BlockShape block_in(CostKeys& keys) {
  const std::string text = keys.text("block");
  try {
    return parse_block(text);
  } catch (const Error&) {
    keys.reject("block", "a block size such as 16x16");
  }
}

}  // namespace

Json to_json(const Costs& costs) {
  Json layers = Json::object();
  for (const prune::LayerTimes& layer : costs.layers) {
    layers[layer.name] = {{"blocks", layer.blocks},
                          {"positions", layer.positions},
                          {"dense_ms", layer.dense_ms},
                          {"fixed_ms", layer.fixed_ms},
                          {"block_ms", layer.block_ms}};
  }
  return {{"hewn", kVersion},
          {"model", costs.model},
          {"data", costs.data},
          {"input", costs.input},
          {"block", to_string(costs.block)},
          {"batch", costs.batch},
          {"threads", costs.threads},
          {"machine", valid_utf8(costs.machine)},
          {"layers", layers}};
}

Costs parse_costs(const std::string& text, const std::string& where) {
  const Json json = parse_shallow<Json>(text, kCostsDepth);
  if (json.is_discarded()) throw FormatError(where, "is not valid JSON");
  CostKeys keys(json, where, "");
  Costs out;
  keys.text("hewn");
  out.model = keys.text("model");
  out.data = keys.text("data");
  out.input = keys.counts("input");
  out.block = block_in(keys);
  out.batch = keys.count("batch");
  out.threads = keys.count("threads");
  out.machine = keys.text("machine");
  const Json& layers = keys.at("layers");
  if (!layers.is_object() || layers.empty()) keys.reject("layers", "an object with a key for every layer");
  keys.end();
  for (const auto& [name, layer] : layers.items()) {
    CostKeys own(layer, where, str("layers.", name, "."));
    prune::LayerTimes times;
    times.name = name;
    times.blocks = own.count("blocks");
    times.positions = own.count("positions");
    times.dense_ms = own.ms("dense_ms", /*may_be_zero=*/false);
    times.fixed_ms = own.ms("fixed_ms", /*may_be_zero=*/true);
    times.block_ms = own.ms("block_ms", /*may_be_zero=*/false);
    if (times.block_ms * static_cast<double>(times.blocks) >= kMostMs)
      own.reject("block_ms", "less for so many blocks");
    own.end();
    out.layers.push_back(times);
  }
  return out;
}

void take_costs(Options& options, const std::string& text, const std::string& where) {
  const Costs costs = parse_costs(text, where);
  if (costs.block != options.prune.block) {
    throw FormatError(
        where, str("\"block\": is ", to_string(costs.block), ", but the run's is ",
                   to_string(options.prune.block), "; costs hold for one block size (hewn advise --block)"));
  }
  options.prune.times = costs.layers;
  options.cost_text = text;
}

void load_costs(Options& options) {
  if (!options.costs.empty()) take_costs(options, read_file(options.costs), options.costs);
}

void check_costs(const Options& options) {
  const bool timed = prune::parse_budget(options.prune.budget).kind == prune::BudgetKind::kMs;
  if (timed && options.costs.empty())
    throw Error(str("budget: ", options.prune.budget,
                    " needs costs, a file of times that hewn advise --costs writes"));
  if (!timed && !options.costs.empty())
    throw Error(str("costs: are for budget ms=MILLISECONDS, not for budget ", options.prune.budget));
}

}  // namespace hewn::run
