#include "hewn/measure/linear.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <memory>

#include "hewn/measure/kept_weight.h"
#include "hewn/measure/panel_run.h"
#include "hewn/measure/runtime_layer.h"

namespace hewn::measure {
namespace {

using kernels::Packed;
using kernels::PanelShape;

/// One position at the start of the panel.
const std::vector<kernels::Position> kOnePosition(1);

/// A weight with activations in panels.
struct Panels {
  KeptWeight kept;
  Packed packed;
  PanelRun run;
  std::vector<float> in;
  std::vector<float> out;

  Panels(KeptWeight&& weight, Packed (*pack_weight)(const kernels::BsrPattern&), const PanelShape& in_shape,
         const PanelShape& out_shape)
      : kept(std::move(weight)),
        packed(pack_weight(kept.pattern)),
        run{&packed, in_shape, out_shape, kOnePosition},
        in(static_cast<size_t>(in_shape.floats())),
        out(static_cast<size_t>(out_shape.floats())) {
    packed.fill(kept.values.data());
  }
  Panels(const Panels&) = delete;

  bool single() const { return run.in.batch == 1; }

  void pack(const float* samples) {
    if (single()) {
      std::copy_n(samples, run.in.rows, in.data());
      return;
    }
    at::parallel_for(0, run.in.panels(), 1, [&](int64_t begin, int64_t end) {
      kernels::pack_panels(run.in, samples, in.data(), begin, end);
    });
  }

  void unpack(float* samples) {
    if (single()) {
      std::copy_n(out.data(), run.out.rows, samples);
      return;
    }
    at::parallel_for(0, run.out.panels(), 1, [&](int64_t begin, int64_t end) {
      kernels::unpack_panels(run.out, out.data(), samples, begin, end);
    });
  }

  void multiply() {
    if (single()) {
      multiply_single(in.data(), out.data());
    } else {
      run.multiply(in.data(), out.data());
    }
  }

  /// A single sample is a plain vector, not a panel.
  void multiply_single(const float* x, float* y) const {
    const int64_t threads = at::get_num_threads();
    if (threads == 1) return kernels::multiply_one(packed, x, y, {}, 0, packed.tile_count());
    const std::vector<int64_t> ranges = tile_ranges(packed, threads);
    at::parallel_for(0, static_cast<int64_t>(ranges.size()) - 1, 1, [&](int64_t begin, int64_t end) {
      kernels::multiply_one(packed, x, y, {}, ranges[static_cast<size_t>(begin)],
                            ranges[static_cast<size_t>(end)]);
    });
  }

  /// Row-major in and out. A panel stays in the cache between its three steps where each thread has one.
  void multiply_row_major(const float* x, float* y) {
    if (single()) {
      multiply_single(x, y);
      return;
    }
    if (!run.panel_each()) {
      pack(x);
      multiply();
      unpack(y);
      return;
    }
    at::parallel_for(0, run.in.panels(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        kernels::pack_panels(run.in, x, in.data(), p, p + 1);
        run.multiply_panel(p, in.data(), out.data());
        kernels::unpack_panels(run.out, out.data(), y, p, p + 1);
      }
    });
  }
};

}  // namespace

void check_shape(const LinearShape& shape) {
  check_extents({{"batch", shape.batch}, {"in", shape.in}, {"out", shape.out}});
}

Linear::Linear(const LinearShape& shape, uint64_t seed)
    : shape_(shape),
      seed_(seed),
      x_(random_tensor({shape.batch, shape.in}, seed, 0)),
      dy_(random_tensor({shape.batch, shape.out}, seed, 1)),
      weight_(random_tensor({shape.out, shape.in}, seed, 2)) {}

SparseWays Linear::sparse_forward(const Point& point) const {
  const auto state =
      std::make_shared<Panels>(KeptWeight(weight_, point, seed_), Packed::linear,
                               PanelShape{shape_.batch, shape_.in}, PanelShape{shape_.batch, shape_.out});
  const at::Tensor y = at::empty({shape_.batch, shape_.out});
  const at::Tensor expected = at::linear(some_samples(x_), state->kept.masked);
  state->multiply_row_major(x_.data_ptr<float>(), y.data_ptr<float>());
  check_samples("linear forward, row-major", y, expected);
  y.zero_();
  state->pack(x_.data_ptr<float>());
  state->multiply();
  state->unpack(y.data_ptr<float>());
  check_samples("linear forward", y, expected);

  SparseWays ways = state->kept.ways(state->packed.bytes());
  const RuntimeLayer layer(x_, state->kept, nullptr);
  check_samples("linear forward, runtime", layer.run(), expected);
  ways.panels = {{"panels", [state] { state->multiply(); }}, layer.on_planes()};
  ways.row_major = {layer.row_major(), {"panels, row-major", [state, y, x = x_] {
                                          state->multiply_row_major(x.data_ptr<float>(), y.data_ptr<float>());
                                        }}};
  return ways;
}

SparseWays Linear::sparse_grad_input(const Point& point) const {
  const auto state =
      std::make_shared<Panels>(KeptWeight(weight_, point, seed_), Packed::linear_transposed,
                               PanelShape{shape_.batch, shape_.out}, PanelShape{shape_.batch, shape_.in});
  const auto run = [state] {
    fill_packed(state->packed, state->kept.values.data());
    state->multiply();
  };
  const at::Tensor dx = at::empty({shape_.batch, shape_.in});
  state->pack(dy_.data_ptr<float>());
  run();
  state->unpack(dx.data_ptr<float>());
  check_samples("linear input gradient", dx, at::mm(some_samples(dy_), state->kept.masked));

  SparseWays ways = state->kept.ways(state->packed.bytes());
  ways.panels = {{"panels, weight packed in the call", run}};
  return ways;
}

SparseWays Linear::sparse_grad_weight(const Point& point) const {
  struct State {
    KeptWeight kept;
    std::vector<float> x, dy, grad;
  };
  const auto state = std::make_shared<State>(State{{weight_, point, seed_}, {}, {}, {}});
  const kernels::BsrPattern& pattern = state->kept.pattern;
  const Grid& blocks = pattern.grid;
  const int64_t size = kernels::padded_block(point.block.rows);
  state->x.resize(static_cast<size_t>(blocks.row_blocks() * shape_.batch * size));
  state->dy.resize(static_cast<size_t>(blocks.col_blocks() * shape_.batch * point.block.cols));
  state->grad.resize(static_cast<size_t>(pattern.value_floats()));
  kernels::pack_block_columns(x_.data_ptr<float>(), shape_.batch, shape_.in, shape_.in, point.block.rows,
                              size, state->x.data(), 0, blocks.row_blocks());
  kernels::pack_block_columns(dy_.data_ptr<float>(), shape_.batch, shape_.out, shape_.out, point.block.cols,
                              point.block.cols, state->dy.data(), 0, blocks.col_blocks());
  const auto run = [state, batch = shape_.batch] {
    at::parallel_for(0, state->kept.pattern.grid.col_blocks(), 1, [&](int64_t begin, int64_t end) {
      kernels::grad_weight(state->kept.pattern, state->x.data(), state->dy.data(), batch, false,
                           state->grad.data(), begin, end);
    });
  };
  run();
  state->kept.check_gradient("linear weight gradient", state->grad, at::mm(dy_.t(), x_));

  SparseWays ways = state->kept.ways(4 * pattern.value_floats());
  ways.panels = {{"block columns", run}};
  return ways;
}

}  // namespace hewn::measure
