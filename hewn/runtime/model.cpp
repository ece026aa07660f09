#include "hewn/runtime/model.h"

#include <omp.h>

#include <algorithm>

#include "hewn/core/error.h"

namespace hewn::runtime {
namespace {

constexpr int kMaxThreads = 1024;  // OpenMP ends the program where it cannot start them

}  // namespace

Model::Model(ModelData data, const Limits& limits)
    : about_(std::make_shared<const About>(About{std::move(data.classes), std::move(data.preprocessing),
                                                 std::move(data.arrays), std::move(data.metadata)})),
      program_(std::make_shared<const Program>(make_program(std::move(data), limits))),
      executor_(program_) {
  set_threads(0);
}

Model& Model::operator=(const Model& other) { return *this = Model(other); }

Model Model::load(const std::filesystem::path& path, const Limits& limits) {
  ModelData data = read_model(path, limits);
  try {
    return Model(std::move(data), limits);
  } catch (const Error& error) {
    throw FormatError(path.string(), error.what());
  }
}

std::array<int64_t, 3> Model::input_shape() const {
  return {program_->input.channels, program_->input.height, program_->input.width};
}

std::vector<int64_t> Model::vocabularies() const {
  std::vector<int64_t> out;
  for (const PackedTable& table : program_->tables) {
    out.resize(table.first.size() - 1, kMaxVocabulary);
    for (size_t f = 0; f < out.size(); ++f) out[f] = std::min(out[f], table.first[f + 1] - table.first[f]);
  }
  return out;
}

void Model::set_threads(int threads) {
  if (threads < 0 || threads > kMaxThreads) {
    throw Error(str("threads: expected 0 to ", kMaxThreads, ", got ", threads));
  }
  threads_ = threads == 0 ? omp_get_num_procs() : threads;
}

}  // namespace hewn::runtime
