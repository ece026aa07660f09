// Attention as one step: each head reads its tokens where the projections left them.
#include "hewn/flow/lower/attention.h"

#include "hewn/kernels/attention.h"

namespace hewn::flow {
namespace {

/// Where a value's numbers are: floats from one index of an axis to the next.
struct AxisPlace {
  int32_t slot = kNone;
  int64_t lead = 0;
  std::vector<int64_t> strides;
};

std::vector<int64_t> row_major(const Dims& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

AxisPlace place_of(Builder& builder, int32_t value, int32_t slot) {
  const Dims& dims = builder.spec(value).dims;
  AxisPlace place{slot, 0, row_major(dims)};
  if (!builder.slot(slot).planes) return place;
  const Planes& planes = *builder.slot(slot).planes;
  place.lead = planes.lead;
  if (dims.size() == 4 && builder.marked(value) == 1) {
    place.strides = {planes.plane, planes.stride, planes.line, 1};
    return place;
  }
  for (int64_t& stride : place.strides) stride /= dims.back();  // columns
  place.strides.back() = planes.stride;
  return place;
}

AxisPlace place_to_read(Builder& builder, int32_t value) {
  const int64_t axis = builder.marked(value);
  return place_of(builder, value, axis >= 0 ? builder.rows(value, axis) : builder.plain(value));
}

/// The matrices of a view: where each begins, and how far its rows and columns are apart.
struct HeadPlaces {
  int32_t slot = kNone;
  std::vector<int64_t> first;
  int64_t row = 1;
  int64_t column = 1;
};

/// Numbers `values` count up through the indices of a list of factors, the last one fastest.
void count_up(const std::vector<Factor>& factors, const std::vector<int64_t>& strides,
              std::vector<int64_t>& values) {
  for (const Factor& factor : factors) {
    std::vector<int64_t> next;
    for (const int64_t value : values) {
      for (int64_t i = 0; i < factor.size; ++i)
        next.push_back(value + i * factor.step * strides[static_cast<size_t>(factor.axis)]);
    }
    values = std::move(next);
  }
}

HeadPlaces heads_read(const AxisPlace& place, const AxisView& view) {
  HeadPlaces out{place.slot, {place.lead}, 1, 1};
  for (size_t axis = 0; axis < view.first.size(); ++axis)
    out.first[0] += view.first[axis] * place.strides[axis];
  const size_t rank = view.dims.size();
  for (size_t d = 0; d + 2 < rank; ++d) count_up(view.dims[d], place.strides, out.first);
  const auto stride = [&](size_t d, int64_t otherwise) {
    const auto& dim = view.dims[d];
    return dim.empty() ? otherwise : dim[0].step * place.strides[static_cast<size_t>(dim[0].axis)];
  };
  out.row = stride(rank - 2, 1);
  out.column = stride(rank - 1, 1);
  return out;
}

/// The same for what is written: the view says where numbers of the product go.
HeadPlaces heads_written(const AxisPlace& place, const AxisView& view, const Dims& product) {
  HeadPlaces out{place.slot, {}, 1, 1};
  const auto rank = static_cast<int64_t>(product.size());
  struct Walk {
    Factor factor;
    int64_t stride;
  };
  std::vector<Walk> walks;
  for (size_t d = 0; d < view.dims.size(); ++d) {
    int64_t stride = place.strides[d];
    for (size_t f = view.dims[d].size(); f-- > 0;) {
      walks.push_back({view.dims[d][f], stride});
      stride *= view.dims[d][f].size;
    }
  }
  for (const Walk& walk : walks) {
    if (walk.factor.axis == rank - 2) out.row = walk.stride;
    if (walk.factor.axis == rank - 1) out.column = walk.stride;
  }
  const std::vector<int64_t> outer = row_major(Dims(product.begin(), product.end() - 2));
  int64_t count = 1;
  for (int64_t axis = 0; axis < rank - 2; ++axis) count *= product[static_cast<size_t>(axis)];
  for (int64_t m = 0; m < count; ++m) {
    int64_t at = place.lead;
    for (const Walk& walk : walks) {
      if (walk.factor.axis >= rank - 2) continue;
      const auto axis = static_cast<size_t>(walk.factor.axis);
      const int64_t index = m / outer[axis] % product[axis];
      at += index / walk.factor.step % walk.factor.size * walk.stride;
    }
    out.first.push_back(at);
  }
  return out;
}

struct MaskPlace {
  MaskOfScores mask;
  bool floats = true;
  HeadPlaces at;
};

MaskPlace place_mask(Builder& builder, const MaskOfScores& mask, const Dims& scores) {
  const Dims& dims = builder.spec(mask.value).dims;
  AxisPlace place{builder.plain(mask.value), 0, std::vector<int64_t>(scores.size(), 0)};
  const std::vector<int64_t> strides = row_major(dims);
  const size_t skip = scores.size() - dims.size();
  for (size_t d = 0; d < dims.size(); ++d) place.strides[d + skip] = dims[d] == 1 ? 0 : strides[d];
  AxisView view{mask.value, std::vector<int64_t>(scores.size(), 0), {}};
  for (size_t d = 0; d < scores.size(); ++d) {
    view.dims.emplace_back();
    view.dims.back().push_back({scores[d], static_cast<int64_t>(d), 1});
  }
  return {mask, builder.spec(mask.value).type == Type::kFloat, heads_read(place, view)};
}

/// All that a step needs to know.
struct AttentionPlan {
  kernels::Attention shape;
  HeadPlaces q, k, v, out;
  std::vector<MaskPlace> masks;

  int64_t heads() const { return static_cast<int64_t>(out.first.size()); }

  void run(const Memory& memory, int64_t head, int64_t first, int64_t last) const {
    kernels::Attention here = shape;
    const auto m = static_cast<size_t>(head);
    here.q = {memory.floats(q.slot) + q.first[m], q.row, q.column};
    here.k = {memory.floats(k.slot) + k.first[m], k.column, k.row};
    here.v = {memory.floats(v.slot) + v.first[m], v.row, v.column};
    here.out = {memory.floats(out.slot) + out.first[m], out.row, out.column};
    thread_local std::vector<kernels::ScoreMask> steps;
    steps.clear();
    for (const MaskPlace& mask : masks) {
      kernels::ScoreMask step{nullptr,        nullptr,        mask.at.row,
                              mask.at.column, mask.mask.kept, mask.mask.instead};
      if (mask.floats) step.add = memory.floats(mask.at.slot) + mask.at.first[m];
      if (!mask.floats) step.keep = static_cast<const bool*>(memory.at(mask.at.slot)) + mask.at.first[m];
      steps.push_back(step);
    }
    here.masks = steps;
    kernels::attend(here, first, last);
  }

  /// Threads share pieces of heads, so that few of them still keep all threads busy.
  void run_part(const Memory& memory, int64_t part, int64_t parts) const {
    const int64_t pieces = heads() >= 4 * parts ? 1 : std::min(parts, (shape.queries + 23) / 24);
    const Range range = share(heads() * pieces, part, parts);
    for (int64_t i = range.begin; i < range.end; ++i) {
      const Range queries = share(shape.queries, i % pieces, pieces);
      if (queries.begin < queries.end) run(memory, i / pieces, queries.begin, queries.end);
    }
  }
};

}  // namespace

bool plans_attention(Builder& builder, const Node& node) {
  return builder.attention.contains(static_cast<int32_t>(&node - builder.graph().nodes.data()));
}

void lower_attention(Builder& builder, int32_t number) {
  const FoundAttention& found = *builder.attention.at(number);
  const Node& product = builder.graph().nodes[static_cast<size_t>(number)];
  const Dims& scores = builder.spec(product.inputs[0]).dims;
  const Dims& result = builder.spec(product.outputs[0]).dims;
  auto plan = std::make_shared<AttentionPlan>();
  plan->q = heads_read(place_to_read(builder, found.q.source), found.q);
  plan->k = heads_read(place_to_read(builder, found.k.source), found.k);
  plan->v = heads_read(place_to_read(builder, found.v.source), found.v);
  Step step{.what = "Attention: " + to_string(builder.graph().nodes[static_cast<size_t>(found.softmax)]),
            .reads = {plan->q.slot, plan->k.slot, plan->v.slot},
            .writes = {},
            .run = {}};
  for (const MaskOfScores& mask : found.masks) {
    plan->masks.push_back(place_mask(builder, mask, scores));
    step.reads.push_back(plan->masks.back().at.slot);
  }
  const int64_t axis = builder.marked(found.out);
  const int32_t slot = axis >= 0 ? builder.new_rows(found.out, axis) : builder.new_plain(found.out);
  plan->out = heads_written(place_of(builder, found.out, slot), found.out_view, result);
  step.writes = {slot};
  kernels::Attention& shape = plan->shape;
  shape.queries = scores[scores.size() - 2];
  shape.keys = scores.back();
  const auto& features = found.q.dims.back();
  shape.features = features.empty() ? 1 : features[0].size;
  shape.values = result.back();
  shape.scale = found.scale;
  const bool apart = plan->q.row != 1 || plan->k.column != 1 || plan->v.row != 1 || plan->out.row != 1;
  if (apart && axis >= 0 && builder.slot(plan->q.slot).planes) builder.plan.single_samples = true;
  step.work = plan->heads() * shape.queries * shape.keys * (shape.features + shape.values);
  step.run = [plan](const Memory& memory, int64_t part, int64_t parts) {
    plan->run_part(memory, part, parts);
  };
  builder.add(std::move(step));
}

}  // namespace hewn::flow
