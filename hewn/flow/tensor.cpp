#include "hewn/flow/tensor.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>

namespace hewn::flow {
namespace {

constexpr std::align_val_t kCacheLine{64};

std::shared_ptr<std::byte[]> zeros(size_t byte_count) {
  const size_t bytes = std::max<size_t>(byte_count, 1);
  std::shared_ptr<std::byte[]> memory(static_cast<std::byte*>(::operator new(bytes, kCacheLine)),
                                      [](std::byte* old) { ::operator delete(old, kCacheLine); });
  std::memset(memory.get(), 0, bytes);
  return memory;
}

}  // namespace

std::string_view name_of(Type type) {
  switch (type) {
    case Type::kFloat:
      return "float";
    case Type::kInt:
      return "int64";
    case Type::kBool:
      return "bool";
  }
  return "";
}

size_t size_of(Type type) {
  switch (type) {
    case Type::kFloat:
      return sizeof(float);
    case Type::kInt:
      return sizeof(int64_t);
    case Type::kBool:
      return sizeof(bool);
  }
  return 1;
}

std::string to_string(const Dims& dims) {
  std::string text;
  for (const int64_t dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

std::string to_string(const Spec& spec) { return str(name_of(spec.type), " ", to_string(spec.dims)); }

int64_t count(std::span<const int64_t> dims) {
  int64_t elements = 1;
  bool none = false;
  for (const int64_t dim : dims) {
    if (dim < 0) throw Error(str("a tensor cannot be ", to_string(Dims(dims.begin(), dims.end()))));
    none = none || dim == 0;
    if (dim > kMostElements / elements) {
      throw TooLarge(str("a tensor of ", to_string(Dims(dims.begin(), dims.end())), " has more than ",
                         kMostElements, " elements"));
    }
    elements *= std::max<int64_t>(dim, 1);  // so that steps fit where there are no elements, too
  }
  return none ? 0 : elements;
}

struct Tensor::Deferred {
  KeptWeight kept;
  std::once_flag once;
  std::atomic<bool> is_whole = false;
  std::shared_ptr<std::byte[]> memory;
};

Tensor::Tensor(Spec spec)
    : spec_(std::move(spec)), elements_(spec_.elements()), memory_(zeros(byte_count())) {}

Tensor::Tensor(Spec spec, KeptWeight kept)
    : spec_(std::move(spec)), elements_(spec_.elements()), deferred_(std::make_shared<Deferred>()) {
  expect(Type::kFloat);
  if (elements_ != kept.pattern.grid.elements()) {
    throw Error(str("blocks of a weight of ", kept.pattern.grid.rows, "x", kept.pattern.grid.cols,
                    " are none of a tensor of ", to_string(spec_.dims)));
  }
  deferred_->kept = std::move(kept);
}

const KeptWeight* Tensor::kept() const { return deferred_ ? &deferred_->kept : nullptr; }

bool Tensor::whole() const { return !deferred_ || deferred_->is_whole; }

std::byte* Tensor::made() const {
  std::call_once(deferred_->once, [this] {
    deferred_->memory = zeros(byte_count());
    const KeptWeight& kept = deferred_->kept;
    const Grid& grid = kept.pattern.grid;
    kernels::scatter_blocks(kept.pattern, {grid, kept.taps}, kept.values.data(),
                            reinterpret_cast<float*>(deferred_->memory.get()), 0, grid.col_blocks());
    deferred_->is_whole = true;
  });
  return deferred_->memory.get();
}

void Tensor::point_at(Type type, std::span<const int64_t> dims, void* memory) {
  spec_.type = type;
  spec_.dims.assign(dims.begin(), dims.end());
  elements_ = 0;  // should they be too many
  memory_ = std::shared_ptr<std::byte[]>(std::shared_ptr<void>(), static_cast<std::byte*>(memory));
  deferred_.reset();
  elements_ = spec_.elements();
}

Tensor Tensor::shaped(Dims dims) const {
  if (count(dims) != elements_) {
    throw Error(str("a tensor of ", to_string(spec_.dims), " cannot be ", to_string(dims)));
  }
  Tensor out = *this;
  if (deferred_) {  // its blocks are those of the shape it had
    out.memory_ = std::shared_ptr<std::byte[]>(deferred_, made());
    out.deferred_.reset();
  }
  out.spec_.dims = std::move(dims);
  return out;
}

void Tensor::expect(Type type) const {
  if (type != spec_.type) {
    throw Error(str("expected a tensor of ", name_of(type), ", not of ", name_of(spec_.type)));
  }
}

Tensor tensor_of(std::span<const int64_t> values) {
  Tensor out(Spec{Type::kInt, {static_cast<int64_t>(values.size())}});
  std::copy(values.begin(), values.end(), out.values<int64_t>().begin());
  return out;
}

Tensor tensor_of(float value) {
  Tensor out(Spec{Type::kFloat, {}});
  out.values<float>()[0] = value;
  return out;
}

}  // namespace hewn::flow
