#include "cli/usage/bench.h"

#include <algorithm>
#include <memory>

#include "cli/networks.h"
#include "hewn/core/error.h"
#include "hewn/run/options.h"

namespace hewn::cli {
namespace {

/// Says what is wrong as far as that is seen without LibTorch; a SOURCE becomes the option that it stands
/// for.
void settle_bench(BenchFields& fields, Given given) {
  const Kind& kind = find_kind(fields.kind);
  if (!fields.source.empty()) {
    if (given.contains("file")) throw Error(str("file: was given as ", fields.source, " too"));
    if (kind.name != "file") throw Error(str(fields.source, ": a file goes with hewn bench file"));
    given["file"] = fields.texts["file"] = fields.source;
  }
  for (const auto& [key, text] : given) {
    const bool read = std::any_of(kind.options.begin(), kind.options.end(),
                                  [&wanted = key](const KindOption& option) { return option.key == wanted; });
    const bool unread_flag = !kind.products && (key == "gradients" || key == "break-even");
    if ((fields.texts.contains(key) && !read) || unread_flag)
      throw Error(str(key, ": means nothing for ", kind.name));
  }
  if (fields.texts.at("device").starts_with("cuda") && given.contains("threads"))
    throw Error(str("threads: means nothing beside device ", fields.texts.at("device")));
  if (fields.rounds < 1) throw Error(str("rounds: expected at least 1, got ", fields.rounds));
  for (const Values& point : combinations(kind, fields)) check_point(point);
}

}  // namespace

Command bench_command() {
  const auto fields = std::make_shared<BenchFields>();
  Command command;
  command.name = "bench";
  command.help = "time block-sparse layers and networks against the fastest dense ones on this machine";
  command.example = "hewn bench linear --batch 1,256 --block 8,16,32 --sparsity 0.8,0.9";
  command.positionals = {
      {"KIND", "what to time: linear, conv, model or file", &fields->kind},
      {"SOURCE", "with kind file: exported network, a model.hewn or ONNX file", &fields->source, false}};
  run::Options training;
  const OptionTable rows = run::describe(training);
  const auto add = [&](const std::string& key, const std::string& help) {
    fields->texts[key] = "auto";
    command.options.add(key, fields->texts[key], help);
  };
  const auto help_of = [&](const std::string& key) { return rows.find(key, "bench").help; };
  const std::string several = "; several with commas between";
  add("batch", "samples" + several);
  add("in", "input features or channels" + several);
  add("out", "output features or channels" + several);
  add("size", "height and width of conv's input" + several);
  add("kernel", "height and width of conv's kernel" + several);
  add("stride", "of conv" + several);
  add("padding", "of conv" + several);
  for (const char* key : {"block", "sparsity", "threads"}) add(key, help_of(key) + several);
  for (const char* key : {"model", "data", "widths", "width", "min-blocks", "device"}) add(key, help_of(key));
  add("file", "old spelling of SOURCE");
  command.options.add("rounds", fields->rounds, "times that each way has its turn");
  command.options.add("seed", fields->seed, "of patterns and numbers");
  command.options.add("gradients", fields->gradients, "time the input and weight gradients too");
  command.options.add("break-even", fields->break_even, "find the sparsity from which sparse is faster");
  command.options.add("layers", fields->layers,
                      "with an ONNX file or what was made of one: where the time goes, step by step");
  command.options.add("latency", fields->latency,
                      "of a file: how long single calls take, p50, p95, p99 and a histogram, by CPU time; of "
                      "several threads by the clock");
  command.options.add("calls", fields->calls, "calls that latency looks at").between(1, 10'000'000);
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) {
    const std::string network = fields->source.empty() ? fields->texts["file"] : fields->source;
    if (fields->kind == "file" && is_network(network)) {
      if (!fields->source.empty() && given.contains("file"))
        throw Error(str("file: was given as ", network, " too"));
      if (fields->rounds < 1) throw Error(str("rounds: expected at least 1, got ", fields->rounds));
      fields->texts["file"] = network;
      return run_bench_network(*fields, given);
    }
    if (given.contains("calls") && !fields->latency) throw Error("calls: goes with --latency only");
    if (fields->latency) {
      if (fields->kind != "file")
        throw Error("latency: applies to files only, as in hewn bench file MODEL --latency");
      fields->texts["file"] = network;
      return run_latency_model(*fields, given);
    }
    if (fields->layers) throw Error("layers: applies to networks of general tensors only");
    settle_bench(*fields, given);
    return run_bench(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
