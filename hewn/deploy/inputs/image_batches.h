#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "hewn/data/inputs/image_inputs.h"
#include "hewn/deploy/inputs/new_data.h"
#include "hewn/deploy/inputs/predictor.h"

namespace hewn::deploy {

/// Image files on their way into a model, decoded on several threads.
class ImageBatches {
 public:
  ImageBatches(const data::ImageRule& rule, const NewDataOptions& options);

  /// Throws FormatError where one of them is damaged.
  void predict_files(const std::vector<std::filesystem::path>& files, Predictor& predictor);
  /// Leaves out damaged images up to their share, and files that are no images, and says so.
  void predict_folder(const std::filesystem::path& folder, Predictor& predictor);
  /// A file in memory, called `where`.
  void predict_bytes(const std::string& bytes, const std::string& where, Predictor& predictor);

 private:
  /// Returns what is wrong with each of the files [begin, begin + count); "" where nothing is.
  std::vector<std::string> decode(const std::vector<std::filesystem::path>& files, size_t begin,
                                  size_t count);
  /// Runs all that can be decoded; calls on_damaged(file, problem) for the others.
  template <class OnDamaged>
  void run(const std::vector<std::filesystem::path>& files, Predictor& predictor,
           const OnDamaged& on_damaged);
  void say(const std::string& text) const {
    if (options_.on_message) options_.on_message(text);
  }

  const NewDataOptions& options_;
  std::deque<data::ImageInputs> readers_;  // one for each thread
  std::vector<float> values_;
};

}  // namespace hewn::deploy
