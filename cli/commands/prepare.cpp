#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/stop.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/data/clicks/cache/cache_file.h"
#include "hewn/data/clicks/prepare.h"
#include "hewn/data/folders/pack.h"
#include "hewn/data/info.h"
#include "hewn/data/plumbing/pipeline.h"
#include "hewn/run/stopped.h"

namespace hewn::cli {
namespace {

constexpr double kMegabyte = 1e6;

struct PrepareFields {
  std::string data;
  data::ClickOptions clicks;
  std::string pack;
  int64_t short_side = 0;
  int64_t threads = 0;
  bool json = false;
};

Json summary(const data::Prepared& prepared, const data::CacheFile& cache, int64_t source_bytes) {
  const Json& metadata = cache.metadata();
  Json out = {{"cache", prepared.cache.string()},
              {"built", prepared.built},
              {"rows", cache.rows()},
              {"malformed", metadata["bad_rows"]},
              {"label_mean", metadata["clicks"].get<double>() / static_cast<double>(cache.rows())},
              {"source_bytes", source_bytes},
              {"cache_bytes", cache.bytes()},
              {"seconds", prepared.seconds}};
  uint64_t parts[data::kRowParts] = {};
  for (const data::CacheGroup& group : cache.groups()) {
    for (size_t p = 0; p < data::kRowParts; ++p) parts[p] += group.parts[p];
  }
  out["train"] = parts[0];
  out["validation"] = parts[1];
  out["test"] = parts[2];
  if (prepared.built) {
    out["rows_per_second"] = static_cast<double>(cache.rows()) / prepared.seconds;
    out["megabytes_per_second"] = static_cast<double>(source_bytes) / kMegabyte / prepared.seconds;
  }
  out["fields"] = metadata["fields"];
  return out;
}

void print_prepare(const Json& out) {
  const auto rows = out["rows"].get<uint64_t>();
  std::cout << rows << " rows, " << out["malformed"] << " malformed, label mean "
            << fixed(out["label_mean"].get<double>(), 4) << "; train " << out["train"] << ", validation "
            << out["validation"] << ", test " << out["test"] << "\n\n";
  std::vector<std::vector<std::string>> table = {
      {"field", "role", "numbers", "values seen", "missing", "rare"}};
  for (const Json& field : out["fields"]) {
    const auto share = [&](const char* key) {
      return field.contains(key) ? percent(field[key].get<double>() / static_cast<double>(rows)) : "";
    };
    table.push_back({field["name"].get<std::string>(), field["role"].get<std::string>(),
                     field["numbers"].dump(-1, ' ', false, Json::error_handler_t::replace),
                     field.contains("distinct")
                         ? field["distinct"].dump(-1, ' ', false, Json::error_handler_t::replace)
                         : "",
                     share("missing"), share("rare")});
  }
  print_table(std::cout, table, {false, false, true, true, true, true});
  std::cout << "\ncache " << out["cache"].get<std::string>() << ", "
            << bytes_text(out["cache_bytes"].get<int64_t>());
  if (out["built"].get<bool>()) {
    std::cout << ", from " << bytes_text(out["source_bytes"].get<int64_t>()) << " in "
              << fixed(out["seconds"].get<double>(), 1)
              << " s: " << fixed(out["rows_per_second"].get<double>(), 0) << " rows/s, "
              << fixed(out["megabytes_per_second"].get<double>(), 1) << " MB/s";
  }
  std::cout << '\n';
}

/// What a request says goes to the terminal; a signal stops it in order.
template <class Request>
void listen(Request& request, Terminal& terminal) {
  stop_on_signals();
  request.on_preparation = [&terminal](const data::Preparation& now) {
    terminal.on_preparation(now);
    if (stop_signal != 0) throw run::Stopped(str("stopped while ", now.what));
  };
  request.on_message = [&terminal](const std::string& text) { terminal.on_message(text); };
}

int run_images(const PrepareFields& fields, const std::string& path) {
  if (fields.pack.empty()) throw Error("pack: expected --pack FILE, where the images go");
  if (fields.short_side < 0) throw Error(str("short-side: expected 0 or more, got ", fields.short_side));
  data::PackRequest request;
  request.folder = path;
  request.file = fields.pack;
  request.short_side = fields.short_side;
  request.workers = fields.threads == 0 ? data::processors() : static_cast<size_t>(fields.threads);
  request.cache = fields.clicks.cache;
  data::Packed packed;
  {
    Terminal terminal(/*quiet=*/false);
    listen(request, terminal);
    packed = data::pack_images(request);
  }
  if (fields.json) {
    std::cout << Json{{"pack", fields.pack},       {"images", packed.images},
                      {"resized", packed.resized}, {"source_bytes", packed.source_bytes},
                      {"bytes", packed.bytes},     {"seconds", packed.seconds}}
                     .dump(-1, ' ', false, Json::error_handler_t::replace)
              << '\n';
    return 0;
  }
  std::cout << packed.images << " images, " << packed.resized << " made smaller, from "
            << bytes_text(packed.source_bytes) << " in " << fixed(packed.seconds, 1) << " s\npack "
            << fields.pack << ", " << bytes_text(packed.bytes) << '\n';
  return 0;
}

int run_clicks(const PrepareFields& fields, const std::string& format, const std::string& path) {
  data::PrepareRequest request;
  request.path = path;
  request.format = format;
  request.options = fields.clicks;
  request.threads = static_cast<size_t>(fields.threads);
  int64_t source_bytes = 0;
  data::Prepared prepared;
  {
    Terminal terminal(/*quiet=*/false);
    listen(request, terminal);
    prepared = data::prepare_clicks(request);
  }
  for (const data::SourceFile& file : data::find_files(request.format, request.path))
    source_bytes += file.size;
  const Json out = summary(prepared, data::CacheFile(prepared.cache), source_bytes);
  if (fields.json) {
    std::cout << out.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    print_prepare(out);
  }
  return 0;
}

int run_prepare(const PrepareFields& fields) {
  const std::string& name = data::find_info(fields.data).name;
  const std::string path = data::path_in(fields.data);
  if (fields.threads < 0) throw Error(str("threads: expected 0 or more, got ", fields.threads));
  const bool images = name == "imagefolder";
  try {
    if (images) return run_images(fields, path);
    if (name == "criteo" || name == "ctr-csv") return run_clicks(fields, name, path);
  } catch (const run::Stopped& stopped) {
    std::cerr << "hewn: " << stopped.what()
              << (images ? "; no pack was written" : "; the same command goes on from the rows that are read")
              << '\n';
    return stopped_code();
  }
  throw Error(
      str("data ", name,
          ": only click logs and image folders are prepared, criteo:PATH, ctr-csv:PATH or imagefolder:PATH"));
}

}  // namespace

Command prepare_command() {
  const auto fields = std::make_shared<PrepareFields>();
  Command command;
  command.name = "prepare";
  command.help = "turn a click log or a folder of images into one file that training reads";
  command.example = "hewn prepare --data criteo:train.txt --min-count 10";
  command.options.add(
      "data", fields->data,
      "criteo:PATH or ctr-csv:PATH, a file, a folder or several with commas; imagefolder:PATH");
  data::describe(fields->clicks, command.options);
  command.options.add("pack", fields->pack, "file for the images of an image folder");
  command.options.add("short-side", fields->short_side,
                      "make larger images so small, imagefolder; 0: take all as they are");
  command.options.add("threads", fields->threads, "threads that parse or decode; 0: all processors");
  command.options.add("json", fields->json, "print JSON");
  command.takes_config = true;
  command.run = [fields](const Given&) { return run_prepare(*fields); };
  return command;
}

}  // namespace hewn::cli
