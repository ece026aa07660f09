#include "hewn/runtime/executor.h"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <new>

#include "hewn/kernels/panels.h"
#include "hewn/runtime/instructions.h"

namespace hewn::runtime {
namespace {

constexpr size_t kCacheLine = 64;  // whole vectors never straddle two
constexpr size_t kHugePage = size_t{1} << 21;
constexpr int64_t kL2Floats = int64_t{256} * 1024;  // a megabyte

/// Columns of a panel of so many samples. A single one is a panel of its own kind, without padding.
int64_t padded(int64_t count) {
  if (count == 1) return 1;
  return (count + kernels::kColumnStep - 1) / kernels::kColumnStep * kernels::kColumnStep;
}

/// A thread's share should take longer (here some 40 microseconds) than waiting for the others at every
/// instruction.
int enough_threads(const Program& program, int64_t batch, int threads) {
  constexpr double kShare = 2e6;  // multiply-adds
  const double work = static_cast<double>(program.products) * static_cast<double>(padded(batch));
  return static_cast<int>(std::clamp(work / kShare, 1.0, static_cast<double>(threads)));
}

/// Panels of half the width are as fast for 512-bit vectors, and images in them are half as far from the L2
/// cache: resnet18 took 12 % less time. Where activations fit the cache anyway, wide ones have less overhead.
int64_t choose_width(const Program& program) {
  const int64_t widest = kernels::machine().panel_width;
  int64_t rows = 0;
  for (const Value& value : program.values) rows = std::max(rows, value.image.rows());
  return widest == 32 && rows * widest > kL2Floats ? widest / 2 : widest;
}

/// Kernels read rows here and there in large buffers: huge pages saved another 10 % on resnet18.
float* allocate(size_t floats) {
  const size_t bytes = floats * sizeof(float);
  const size_t alignment = bytes >= kHugePage ? kHugePage : kCacheLine;
  const size_t whole = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(memory, whole, MADV_HUGEPAGE);  // only a wish
  return static_cast<float*>(memory);
}

}  // namespace

Executor::Executor(std::shared_ptr<const Program> program)
    : program_(std::move(program)), panel_width_(choose_width(*program_)) {}

void Executor::reserve(Arena& arena, int64_t columns) const {
  if (columns <= arena.capacity) return;
  arena = {};
  for (const Buffer& buffer : program_->buffers) {
    arena.memory.emplace_back(allocate(static_cast<size_t>(buffer.rows * columns)));
    arena.buffers.push_back(arena.memory.back().get());
  }
  arena.capacity = columns;
}

/// Where a border lies depends on the columns.
void Executor::set_columns(Arena& arena, int64_t columns) const {
  if (columns == arena.columns) return;
  arena.columns = columns;
  for (size_t i = 0; i < arena.buffers.size(); ++i) {
    const Buffer& buffer = program_->buffers[i];
    if (buffer.bordered) std::fill_n(arena.buffers[i], buffer.rows * columns, 0.0F);
  }
}

void Executor::load(Arena& arena, const float* input, int64_t count) const {
  set_columns(arena, padded(count));
  const Value& value = program_->values[static_cast<size_t>(program_->input_value)];
  if (count == 1)
    return kernels::pack_image(value.image, input, arena.buffers[static_cast<size_t>(value.buffer)]);
  kernels::pack_images({count, value.image.rows()}, value.image, /*channels_last=*/false, input,
                       arena.buffers[static_cast<size_t>(value.buffer)], 0, 1);
}

void Executor::store(const Arena& arena, float* output, int64_t count) const {
  const Value& value = program_->values[static_cast<size_t>(program_->output_value)];
  if (count == 1)
    return kernels::unpack_image(value.image, arena.buffers[static_cast<size_t>(value.buffer)], output);
  kernels::unpack_images({count, value.image.rows()}, value.image, /*channels_last=*/false,
                         arena.buffers[static_cast<size_t>(value.buffer)], output, 0, 1);
}

/// NaN for samples that hold a value which an embedding does not know. The instruction's own NaN may be lost
/// on the way: in a dropped block, or in a ReLU.
void Executor::spoil_unknown(const float* input, int64_t count, float* output) const {
  const int64_t fields = program_->input.elements();
  const int64_t outputs = program_->output.elements();
  for (const PackedTable& table : program_->tables) {
    for (int64_t n = 0; n < count; ++n) {
      bool known = true;
      for (int64_t f = 0; f < fields; ++f) known = table.row(f, input[n * fields + f]) >= 0 && known;
      if (!known) std::fill_n(output + n * outputs, outputs, std::numeric_limits<float>::quiet_NaN());
    }
  }
}

void Executor::run(const float* input, int64_t batch, float* output, int most_threads) {
  if (batch < 1) return;
  const int threads = enough_threads(*program_, batch, most_threads);
  const int64_t width = panel_width_;
  const int64_t panels = (batch + width - 1) / width;
  const int64_t in_floats = program_->input.elements();
  const int64_t out_floats = program_->output.elements();
  const size_t arenas = panels >= threads ? static_cast<size_t>(threads) : 1;
  if (arenas_.size() < arenas) arenas_.resize(arenas);
  for (size_t i = 0; i < arenas; ++i) reserve(arenas_[i], std::min(width, padded(batch)));

    // Each thread takes whole panels through the whole network, which keeps them in its cache (layer by layer
    // took 20 % longer on resnet18); what is left over they share instruction by instruction.
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const int64_t self = omp_get_thread_num();
    const int64_t team = omp_get_num_threads();
    // A team may be smaller than asked for.
    const int64_t whole = static_cast<int64_t>(arenas) >= team ? panels / team * team : 0;
    const auto count = [&](int64_t panel) { return std::min(width, batch - panel * width); };
    const auto first = [&](int64_t panel) { return panel * width; };
    for (int64_t panel = self; panel < whole; panel += team) {
      Arena& arena = arenas_[static_cast<size_t>(self)];
      load(arena, input + first(panel) * in_floats, count(panel));
      const PanelView view{arena.buffers, arena.columns};
      for (const Instruction& instruction : program_->instructions)
        run_instruction(*program_, instruction, view, 0, 1);
      store(arena, output + first(panel) * out_floats, count(panel));
      spoil_unknown(input + first(panel) * in_floats, count(panel), output + first(panel) * out_floats);
    }
#pragma omp barrier
    for (int64_t panel = whole; panel < panels; ++panel) {
      Arena& arena = arenas_.front();
#pragma omp single
      load(arena, input + first(panel) * in_floats, count(panel));
      const PanelView view{arena.buffers, arena.columns};
      for (const Instruction& instruction : program_->instructions) {
        run_instruction(*program_, instruction, view, self, team);
#pragma omp barrier
      }
#pragma omp single
      {
        store(arena, output + first(panel) * out_floats, count(panel));
        spoil_unknown(input + first(panel) * in_floats, count(panel), output + first(panel) * out_floats);
      }
    }
  }
}

}  // namespace hewn::runtime
