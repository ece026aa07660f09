#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/kernels/bsr.h"

namespace hewn::flow {

/// Elements of a tensor: 32-bit floats, 64-bit integers, or bytes that are 0 or 1.
enum class Type { kFloat, kInt, kBool };
std::string_view name_of(Type type);
size_t size_of(Type type);

template <class T>
constexpr Type kTypeOf = Type::kFloat;
template <>
inline constexpr Type kTypeOf<int64_t> = Type::kInt;
template <>
inline constexpr Type kTypeOf<bool> = Type::kBool;

/// Row-major. No dimensions: one number.
using Dims = std::vector<int64_t>;
std::string to_string(const Dims& dims);

/// A tensor may have so many elements at most: what a small file asks for must fit a machine.
constexpr int64_t kMostElements = int64_t{1} << 28;
class TooLarge : public Error {
 public:
  using Error::Error;
};
/// Their number. Throws Error for negative dimensions, TooLarge beyond kMostElements.
int64_t count(std::span<const int64_t> dims);
inline int64_t count(const Dims& dims) { return count(std::span<const int64_t>(dims)); }

/// What is known of a tensor before its numbers.
struct Spec {
  Type type = Type::kFloat;
  Dims dims;

  int64_t elements() const { return count(dims); }
  bool operator==(const Spec&) const = default;
};
std::string to_string(const Spec& spec);

/// The kept blocks of a weight; other numbers are zeros. The weight itself is outputs x channels x taps.
struct KeptWeight {
  kernels::BsrPattern pattern;  // (taps x channels) x outputs
  std::vector<float> values;    // [kept][block.cols][block.rows]
  int64_t taps = 1;
};

/// A tensor that owns its numbers, unless it was told to point elsewhere. Copies share them, so they are
/// written only by who made it.
class Tensor {
 public:
  Tensor() : Tensor(Spec{Type::kFloat, {0}}) {}
  /// Zeros.
  explicit Tensor(Spec spec);
  /// A weight of which its blocks are known: all of its numbers are there once somebody asks for them.
  Tensor(Spec spec, KeptWeight kept);

  const Spec& spec() const { return spec_; }
  const Dims& dims() const { return spec_.dims; }
  Type type() const { return spec_.type; }
  int64_t elements() const { return elements_; }
  std::byte* bytes() { return numbers(); }
  const std::byte* bytes() const { return numbers(); }
  /// Null where its blocks are not known.
  const KeptWeight* kept() const;
  /// Whether all of its numbers are in memory, or only its blocks.
  bool whole() const;
  /// The same for tensors that share their numbers, and for no others.
  const void* identity() const { return deferred_ ? deferred_.get() : static_cast<void*>(memory_.get()); }
  /// Whether another tensor has the same memory.
  bool shared() const { return (deferred_ ? deferred_.use_count() : memory_.use_count()) > 1; }
  size_t byte_count() const { return static_cast<size_t>(elements_) * size_of(spec_.type); }

  /// Throws Error where the elements are of another type.
  template <class T>
  std::span<T> values() {
    expect(kTypeOf<T>);
    return {reinterpret_cast<T*>(numbers()), static_cast<size_t>(elements_)};
  }
  template <class T>
  std::span<const T> values() const {
    expect(kTypeOf<T>);
    return {reinterpret_cast<const T*>(numbers()), static_cast<size_t>(elements_)};
  }

  /// Becomes numbers in memory of someone else, which must outlive it and its copies. Allocates nothing
  /// where it has had as many dimensions before.
  void point_at(Type type, std::span<const int64_t> dims, void* memory);

  /// The same numbers in another shape.
  Tensor shaped(Dims dims) const;

 private:
  struct Deferred;

  void expect(Type type) const;
  std::byte* numbers() const { return deferred_ ? made() : memory_.get(); }
  std::byte* made() const;

  Spec spec_;
  int64_t elements_ = 0;
  std::shared_ptr<std::byte[]> memory_;
  std::shared_ptr<Deferred> deferred_;  // instead of memory
};

/// One dimension of integers, or one number.
Tensor tensor_of(std::span<const int64_t> values);
Tensor tensor_of(float value);

}  // namespace hewn::flow
