// How fast a cache opens and batches come out of it: click_batches PATH FOLDER-OF-THE-CACHE, prints JSON.
#include <ATen/Parallel.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <string>

#include "hewn/core/json.h"
#include "hewn/data/source.h"

namespace {

double seconds_of(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: click_batches PATH FOLDER-OF-THE-CACHE\n";
    return 2;
  }
  at::set_num_threads(1);
  hewn::data::DataOptions options;
  options.batch = 4096;
  options.clicks.cache = argv[2];
  std::unique_ptr<hewn::data::Source> source;
  const double open =
      seconds_of([&] { source = hewn::data::open_source(std::string("criteo:") + argv[1], options); });
  const int64_t batches = source->train_batches();
  const auto epoch = [&](int64_t number) {
    return static_cast<double>(batches * options.batch) / seconds_of([&] {
             for (int64_t n = 0; n < batches; ++n) source->train_batch(number, n);
           });
  };
  const double first = epoch(0);
  const double second = epoch(1);
  std::cout << hewn::Json{{"open_seconds", open},
                          {"batch", options.batch},
                          {"rows", batches * options.batch},
                          {"rows_per_second_first_epoch", first},
                          {"rows_per_second", second}}
                   .dump()
            << '\n';
}
