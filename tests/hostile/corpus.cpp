#include "tests/hostile/corpus.h"

#include <algorithm>
#include <cstring>

#include "hewn/convex/dataset.h"
#include "hewn/convex/model.h"
#include "hewn/convex/select.h"
#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/data/source.h"
#include "hewn/deploy/evaluate.h"
#include "hewn/deploy/export.h"
#include "hewn/deploy/inspect_file.h"
#include "hewn/deploy/inspect_run.h"
#include "hewn/deploy/predict.h"
#include "hewn/deploy/samples.h"
#include "hewn/report/report.h"
#include "hewn/run/config.h"
#include "hewn/run/stopped.h"
#include "hewn/train/job.h"
#include "tests/support/click_logs.h"
#include "tests/support/jpegs.h"
#include "tests/support/pngs.h"
#include "tests/support/tables.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

namespace fs = std::filesystem;

class StopAt final : public run::Observer {
 public:
  explicit StopAt(int64_t step) : last_(step) {}
  void on_step(int64_t step, prune::Phase) override { step_ = step; }
  bool stop_requested() const override { return step_ >= last_; }

 private:
  int64_t last_;
  int64_t step_ = 0;
};

run::Options small_run(const std::string& data) {
  run::Options out;
  out.data = "mnist:" + data;
  out.widths = {16, 16};
  out.prune.block = {4, 4};
  out.prune.min_blocks = 4;
  out.epochs = 2;
  out.batch = 20;
  out.threads = 1;
  return out;
}

void copy_folder(const fs::path& from, const fs::path& to) {
  fs::remove_all(to);
  fs::copy(from, to, fs::copy_options::recursive);
}

/// Everything that takes a run's folder.
void read_run(const run::Folder& run) {
  const auto each = [](const std::function<void()>& work) {
    try {
      work();
    } catch (const Error&) {
    }
  };
  each([&] { run::resumed_options(run, {}); });
  each([&] { deploy::inspect_run(run); });
  each([&] { deploy::exported_run(run); });
  each([&] {
    report::ReportOptions options;
    options.latency = false;
    report::collect({run.path.string()}, options).dump();
  });
  each([&] {
    run::Observer silent;
    train::train(run::resumed_options(run, {}), run, /*resume=*/true, silent);
  });
}

void open_data(const std::string& spec) {
  data::DataOptions options;
  options.batch = 4;
  options.folders.workers = 1;
  const auto source = data::open_source(spec, options);
  for (int64_t i = 0; i < std::min<int64_t>(8, source->train_batches()); ++i) source->train_batch(0, i);
  source->test_batch(0);
}

}  // namespace

std::string Corpus::resealed(const std::string& bytes,
                             const std::function<std::string(std::string)>& change) {
  uint64_t before = 0;
  std::memcpy(&before, bytes.data(), sizeof(before));
  const std::string header = change(bytes.substr(sizeof(before), before));
  const uint64_t now = header.size();
  std::string out(reinterpret_cast<const char*>(&now), sizeof(now));
  out += header + bytes.substr(sizeof(before) + before);
  if (out.size() < 4) return out;
  const uint32_t seal = crc32(std::string_view(out).substr(0, out.size() - 4));
  std::memcpy(out.data() + out.size() - 4, &seal, sizeof(seal));
  return out;
}

Corpus::Corpus() {
  add_run();
  add_checkpoint();
  add_models();
  add_networks();
  add_tables();
  add_images();
  add_clicks();
  add_text();
  add_settings();
}

void Corpus::add(const std::string& name, const fs::path& file, std::function<void()> read,
                 std::function<void()> restore) {
  targets_.push_back({name, file, std::move(read), std::move(restore)});
}

void Corpus::add_run() {
  write_tiny_mnist(folder_ / "mnist", 200, 40);
  run::Observer silent;
  const run::Folder run{folder_ / "run"};
  train::train(small_run(path("mnist")), run, /*resume=*/false, silent);
  const fs::path kept = folder_ / "run.kept";
  copy_folder(run.path, kept);
  const auto restore = [run, kept] { copy_folder(kept, run.path); };
  for (const auto& entry : fs::recursive_directory_iterator(run.path)) {
    if (!entry.is_regular_file() || entry.path().filename().string().starts_with('.')) continue;
    if (entry.path().string().find("events") != std::string::npos) continue;  // written, never read
    if (entry.path().string().find("checkpoints") != std::string::npos) continue;
    const std::string name = entry.path().filename();
    add(
        "run: " + name, entry.path(), [run] { read_run(run); }, restore);
    if (name.ends_with(".safetensors"))
      add(
          "forged run: " + name, entry.path(), [run] { read_run(run); }, restore);
  }
}

void Corpus::add_checkpoint() {
  const run::Folder run{folder_ / "half"};
  StopAt stop(18);
  try {
    train::train(small_run(path("mnist")), run, /*resume=*/false, stop);
  } catch (const run::Stopped&) {
  }
  const fs::path kept = folder_ / "half.kept";
  copy_folder(run.path, kept);
  const auto restore = [run, kept] { copy_folder(kept, run.path); };
  const auto go_on = [run] {
    run::Observer silent;
    train::train(run::resumed_options(run, {}), run, /*resume=*/true, silent);
  };
  const fs::path newest = run.checkpoints() / "step-18.safetensors";
  add("checkpoint", newest, go_on, restore);
  add("forged checkpoint", newest, go_on, restore);
  add("half a run: metrics.jsonl", run.metrics(), go_on, restore);
  add("half a run: config.json", run.config(), go_on, restore);
}

void Corpus::add_models() {
  const std::string old = HEWN_SOURCE_DIR "/tests/runtime/old/";
  for (const char* name : {"images.hewn", "clicks.hewn", "bf16.hewn"}) {
    fs::copy_file(old + name, folder_ / name);
    add(std::string("model: ") + name, folder_ / name, [file = path(name)] {
      deploy::inspect_file(file);
      deploy::open_model(file, 1);
    });
  }
  deploy::export_run({folder_ / "run.kept"}, folder_ / "model.hewn", io::DType::kF32);
  const auto predict = [file = path("model.hewn"), data = path("mnist")] {
    deploy::PredictOptions options;
    options.data = "mnist:" + data;
    options.threads = 1;
    options.limit = 8;
    deploy::predict(file, options);
  };
  add("model: model.hewn", folder_ / "model.hewn", predict);
  add("forged model: model.hewn", folder_ / "model.hewn", predict);
  deploy::export_run({folder_ / "run.kept"}, folder_ / "weights.pt", io::DType::kF32);
  fs::copy_file(folder_ / "run.kept/model.safetensors", folder_ / "weights.safetensors");
  for (const char* name : {"weights.pt", "weights.safetensors"}) {
    add(std::string("weights: ") + name, folder_ / name, [file = path(name), data = path("mnist")] {
      run::Options options = small_run(data);
      options.init = file;
      run::Observer silent;
      deploy::evaluate_weights(options, silent);
    });
  }
}

void Corpus::add_tables() {
  const std::string fuzz = HEWN_SOURCE_DIR "/tests/fuzz/tables/";
  write_text(folder_ / "table.csv", regression_table(60));
  write_gzip(folder_ / "table.csv.gz", regression_table(60));
  for (const char* name : {"table.csv", "table.csv.gz"}) {
    add(std::string("table: ") + name, folder_ / name, [spec = "csv:" + path(name)] { open_data(spec); });
  }
  for (const auto& [from, name] :
       {std::pair("npy", "a.npy"), std::pair("npz-stored", "a.npz"), std::pair("npz-deflated", "b.npz")}) {
    write_text(folder_ / name, read_file(fuzz + from).substr(1));  // behind the byte that tells them apart
    add(std::string("table: ") + name, folder_ / name,
        [file = path(name)] { convex::read_dataset(file, {}); });
  }
  const convex::Dataset data = convex::read_dataset(path("table.csv"), {});
  const convex::Selection found = convex::select(data, {}, [](int, int) {});
  convex::write_model(folder_ / "selector.json", convex::model_of(data, found, "omp", /*whole_path=*/false));
  add("selector", folder_ / "selector.json", [file = path("selector.json")] { convex::read_model(file); });
}

void Corpus::add_images() {
  const fs::path mnist = folder_ / "idx";
  write_tiny_mnist(mnist, 40, 20);
  for (const auto& entry : fs::directory_iterator(mnist)) {
    add("idx: " + entry.path().filename().string(), entry.path(),
        [spec = "mnist:" + mnist.string()] { open_data(spec); });
  }
  const fs::path cifar = folder_ / "cifar";
  fs::create_directory(cifar);
  for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                           "data_batch_5.bin", "test_batch.bin"}) {
    write_text(cifar / name, std::string(3073 * 4, '\1'));
  }
  add("cifar", cifar / "data_batch_2.bin", [spec = "cifar10:" + cifar.string()] { open_data(spec); });
  const fs::path images = folder_ / "images";
  for (const char* part : {"train", "val"}) {
    for (int label = 0; label < 2; ++label) {
      const fs::path folder = images / part / std::to_string(label);
      fs::create_directories(folder);
      for (int i = 0; i < 4; ++i) {
        write_text(folder / (std::to_string(i) + ".jpg"), jpeg_bytes(wavy(20, 20, i)));
        write_text(folder / (std::to_string(i) + "b.png"), plain_png(16, 16, i, 2 * i, 60 * label));
      }
    }
  }
  const auto read = [spec = "imagefolder:" + images.string()] { open_data(spec); };
  read();  // makes the index
  add("image: jpeg", images / "train/0/0.jpg", read);
  add("image: png", images / "train/0/0b.png", read);
  for (const auto& entry : fs::directory_iterator(images / ".hewn-cache")) {
    if (entry.is_regular_file()) add("image index", entry.path(), read);
  }
  fs::copy_file(HEWN_SOURCE_DIR "/tests/old/images.pack", folder_ / "images.pack");
  add("image pack", folder_ / "images.pack",
      [spec = "imagefolder:" + path("images.pack")] { open_data(spec); });
}

void Corpus::add_clicks() {
  write_text(folder_ / "clicks.txt", criteo_rows(0, 300));
  const auto read = [spec = "criteo:" + path("clicks.txt")] { open_data(spec); };
  read();  // makes the cache
  add("click log", folder_ / "clicks.txt", read);
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "clicks.txt.hewn-cache")) {
    if (entry.is_regular_file() && fs::file_size(entry) > 0) add("click cache", entry.path(), read);
  }
  write_text(folder_ / "rows.csv", "label,n,c\n1,2.5,a\n0,1,b\n1,3,a\n0,4,b\n1,2,c\n0,1,a\n1,1,c\n0,2,b\n");
  write_text(folder_ / "rows.schema", "label = label\nnumeric = n\ncategorical = c\n");
  add("schema", folder_ / "rows.schema", [rows = path("rows.csv"), schema = path("rows.schema")] {
    data::DataOptions options;
    options.batch = 2;
    options.clicks.schema = schema;
    data::open_source("ctr-csv:" + rows, options)->train_batch(0, 0);
  });
}

void Corpus::add_text() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "line " + std::to_string(i * i % 97) + "\r\n";
  write_text(folder_ / "book.txt", text);
  write_gzip(folder_ / "book.txt.gz", text);
  for (const char* name : {"book.txt", "book.txt.gz"})
    add(std::string("text: ") + name, folder_ / name, [spec = "text:" + path(name)] { open_data(spec); });
}

}  // namespace hewn::test
