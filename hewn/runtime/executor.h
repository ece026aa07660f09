#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "hewn/runtime/program.h"

namespace hewn::runtime {

/// Runs a program. Owns the buffers, so use one executor from one thread at a time; any number of them can
/// share a program.
class Executor {
 public:
  explicit Executor(std::shared_ptr<const Program> program);

  const Program& program() const { return *program_; }

  /// `input`: batch x channels x height x width; `output`: batch x outputs. Buffers grow with the first
  /// batches and are kept. Uses fewer threads where there is too little to do.
  void run(const float* input, int64_t batch, float* output, int most_threads);

 private:
  struct Release {
    void operator()(float* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<float[], Release>;

  /// The buffers of one panel.
  struct Arena {
    std::vector<Memory> memory;
    std::vector<float*> buffers;
    int64_t capacity = 0;  // columns that fit
    int64_t columns = 0;   // for which the borders are zero
  };

  void reserve(Arena& arena, int64_t columns) const;
  void set_columns(Arena& arena, int64_t columns) const;
  void load(Arena& arena, const float* input, int64_t count) const;
  void store(const Arena& arena, float* output, int64_t count) const;
  void spoil_unknown(const float* input, int64_t count, float* output) const;

  std::shared_ptr<const Program> program_;
  int64_t panel_width_;
  std::vector<Arena> arenas_;
};

}  // namespace hewn::runtime
