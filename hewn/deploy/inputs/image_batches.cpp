#include "hewn/deploy/inputs/image_batches.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/data/inputs/image_files.h"
#include "hewn/data/plumbing/pipeline.h"

namespace hewn::deploy {
namespace {

constexpr size_t kDamagedShown = 5;
constexpr int64_t kMostImageWorkers = 1024;

}  // namespace

ImageBatches::ImageBatches(const data::ImageRule& rule, const NewDataOptions& options) : options_(options) {
  if (options.workers < 0 || options.workers > kMostImageWorkers)
    throw Error(hewn::str("workers: expected 0 to ", kMostImageWorkers, ", got ", options.workers));
  if (!(options.bad_images >= 0 && options.bad_images < 1))
    throw Error(hewn::str("bad-images: expected a share in [0, 1), got ", options.bad_images));
  const size_t workers = options.workers > 0 ? static_cast<size_t>(options.workers) : data::processors();
  while (readers_.size() < workers) readers_.emplace_back(rule);
}

std::vector<std::string> ImageBatches::decode(const std::vector<std::filesystem::path>& files, size_t begin,
                                              size_t count) {
  const auto floats = static_cast<size_t>(readers_[0].floats());
  std::vector<std::string> problems(count);
  values_.resize(count * floats);
  const size_t threads = std::min(readers_.size(), count);
  const auto work = [&](size_t thread) {
    for (size_t i = thread; i < count; i += threads) {
      try {
        readers_[thread].read(files[begin + i], values_.data() + i * floats);
      } catch (const data::DamagedImage& error) {
        problems[i] = error.what();
      }
    }
  };
  data::for_all(threads, threads, work, [] {});
  return problems;
}

template <class OnDamaged>
void ImageBatches::run(const std::vector<std::filesystem::path>& files, Predictor& predictor,
                       const OnDamaged& on_damaged) {
  const auto floats = readers_[0].floats();
  const auto batch = static_cast<size_t>(predictor.batch());
  for (size_t begin = 0; begin < files.size() && predictor.wants_more(); begin += batch) {
    const size_t count = std::min(batch, files.size() - begin);
    const std::vector<std::string> problems = decode(files, begin, count);
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      if (!problems[i].empty()) {
        on_damaged(files[begin + i], problems[i]);
        continue;
      }
      const auto from = values_.begin() + static_cast<int64_t>(i) * floats;
      std::copy(from, from + floats, values_.begin() + static_cast<int64_t>(names.size()) * floats);
      names.push_back(files[begin + i].string());
    }
    if (!names.empty()) predictor.add(values_.data(), static_cast<int64_t>(names.size()), names);
  }
}

void ImageBatches::predict_files(const std::vector<std::filesystem::path>& files, Predictor& predictor) {
  run(files, predictor, [](const std::filesystem::path& file, const std::string& problem) {
    throw FormatError(file.string(), problem);
  });
}

void ImageBatches::predict_folder(const std::filesystem::path& folder, Predictor& predictor) {
  const data::ImageFiles found = data::find_images(folder);
  if (found.images.empty()) throw Error(hewn::str(folder.string(), ": holds no JPEG or PNG files"));
  if (!found.others.empty()) {
    say(hewn::str(folder.string(), ": ", found.others.size(),
                  found.others.size() == 1 ? " file is" : " files are",
                  " neither JPEG nor PNG and left out: ", found.others[0].string(),
                  found.others.size() > 1 ? ", ..." : ""));
  }
  size_t damaged = 0;
  run(found.images, predictor, [&](const std::filesystem::path& file, const std::string& problem) {
    ++damaged;
    if (static_cast<double>(damaged) > options_.bad_images * static_cast<double>(found.images.size())) {
      throw FormatError(file.string(),
                        hewn::str(problem, "; ", damaged, " of ", found.images.size(),
                                  " images are damaged, bad-images allows a share of ", options_.bad_images));
    }
    if (damaged <= kDamagedShown) {
      say(hewn::str(file.string(), ": ", problem, "; it is left out",
                    damaged == kDamagedShown ? "; others are not shown" : ""));
    }
  });
}

void ImageBatches::predict_bytes(const std::string& bytes, const std::string& where, Predictor& predictor) {
  values_.resize(static_cast<size_t>(readers_[0].floats()));
  try {
    readers_[0].decode(bytes, values_.data());
  } catch (const data::DamagedImage& error) {
    throw FormatError(where, error.what());
  }
  predictor.add(values_.data(), 1, {where});
}

}  // namespace hewn::deploy
