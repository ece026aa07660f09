// What a run leaves and what it is told, damaged. The first byte says what: 0 config.json, 1 summary.json,
// 2 the state of a checkpoint, 3 metrics.jsonl, 4 costs, 5 a config file, 6 a sweep, 7 safetensors,
// 8 kept blocks.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "hewn/core/blocks.h"
#include "hewn/core/error.h"
#include "hewn/io/safetensors.h"
#include "hewn/report/metrics_log.h"
#include "hewn/run/config.h"
#include "hewn/run/costs.h"
#include "hewn/run/loop_state.h"
#include "hewn/run/options.h"
#include "hewn/run/summary.h"
#include "hewn/sweep/expand.h"
#include "hewn/sweep/sections.h"

namespace {

using namespace hewn;

std::string write(std::string_view bytes) {
  static const std::string path = "/tmp/hewn-runs-fuzz-" + std::to_string(getpid());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  return path;
}

Json parsed(std::string_view text) {
  Json json = parse_shallow<Json>(text, 32);
  if (json.is_discarded()) throw Error("no JSON");
  return json;
}

const sweep::TrainRules& rules() {
  static run::Options options;
  static const OptionTable table = run::describe(options);
  static const sweep::TrainRules out = {
      table.keys(), [](const sweep::Options& given) { run::check_options(run::options_from(given)); },
      run::only_prunes, run::may_change_on_resume};
  return out;
}

void read_options(const std::string& text) {
  sweep::Options options;
  for (const auto& section : sweep::read_sections(text, "config", sweep::Top::kEntries)) {
    for (const auto& entry : section.entries) options[entry.key] = entry.value.text();
  }
  run::check_options(run::options_from(options));
}

/// What a file says is said by what is written of it too.
void read_sweep(const std::string& text) {
  const auto sections = sweep::read_sections(text, "sweep");
  const std::string again = sweep::to_text(sections);
  if (sweep::to_text(sweep::read_sections(again, "again")) != again) __builtin_trap();
  const sweep::Spec spec = sweep::read_spec(sweep::sweep_file(text, "/none/sweep.toml"), {}, rules());
  size_t points = 1;
  for (const auto& axis : spec.axes) points *= std::max<size_t>(1, axis.values.size());
  if (points < 200) sweep::expand(spec, rules());
}

void read_summary(std::string_view text) {
  const run::Summary summary = run::summary_in(parsed(text), "summary");
  if (summary.kept_blocks > summary.blocks) __builtin_trap();
  run::to_json(summary).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// What was read is written and read again.
void read_blocks(const std::string& text) {
  const Blocks blocks = parse_blocks(text, "blocks", [](const std::string&, const BlockShape& block) {
    return Grid{16, 16, block};
  });
  if (parse_blocks(to_text(blocks), "again", {}) != blocks) __builtin_trap();
  for (const auto& [name, layer] : blocks) {
    if (layer.grid().blocks() < 1 << 16 && LayerBlocks::of_bits(layer.grid(), layer.bits()) != layer)
      __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] == '0') run::config_in(run::Folder{"/none"}, parsed(rest));
    if (data[0] == '1') read_summary(rest);
    if (data[0] == '2') run::read_loop_state(parsed(rest), {20, 40, 7}, "state");
    if (data[0] == '3') report::MetricsLog(write(rest)).read_more();
    if (data[0] == '4') run::parse_costs(std::string(rest), "costs");
    if (data[0] == '5') read_options(std::string(rest));
    if (data[0] == '6') read_sweep(std::string(rest));
    if (data[0] == '7') io::parse_safetensors(std::string(rest), "weights", false);
    if (data[0] == '8') read_blocks(std::string(rest));
  } catch (const Error&) {
  }
  return 0;
}
