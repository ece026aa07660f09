#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace hewn::flow {

/// A list of numbers, one for each dimension of a tensor. Lists of up to eight need no memory of their own:
/// operators make them each time they run.
class Steps {
 public:
  Steps() = default;
  explicit Steps(size_t size, int64_t value = 0) {
    for (size_t i = 0; i < size; ++i) push_back(value);
  }
  Steps(std::initializer_list<int64_t> values) : Steps(values.begin(), values.end()) {}
  Steps(const std::vector<int64_t>& values) : Steps(values.data(), values.data() + values.size()) {}
  Steps(const int64_t* begin, const int64_t* end) {
    for (; begin != end; ++begin) push_back(*begin);
  }
  operator std::vector<int64_t>() const { return {begin(), end()}; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* begin() { return size_ <= kOwn ? own_.data() : more_.data(); }
  const int64_t* begin() const { return size_ <= kOwn ? own_.data() : more_.data(); }
  int64_t* end() { return begin() + size_; }
  const int64_t* end() const { return begin() + size_; }
  int64_t& operator[](size_t i) { return begin()[i]; }
  int64_t operator[](size_t i) const { return begin()[i]; }
  int64_t& back() { return begin()[size_ - 1]; }

  void push_back(int64_t value) {
    if (size_ == kOwn) more_.assign(own_.begin(), own_.end());
    if (size_ < kOwn) {
      own_[size_] = value;
    } else {
      more_.push_back(value);
    }
    ++size_;
  }
  void pop_back() {
    if (size_ == kOwn + 1) own_ = first_of(more_);
    if (size_ > kOwn) more_.pop_back();
    --size_;
  }

 private:
  static constexpr size_t kOwn = 8;

  static std::array<int64_t, kOwn> first_of(const std::vector<int64_t>& values) {
    std::array<int64_t, kOwn> out{};
    for (size_t i = 0; i < kOwn; ++i) out[i] = values[i];
    return out;
  }

  std::array<int64_t, kOwn> own_{};
  std::vector<int64_t> more_;  // all of them, where they are more
  size_t size_ = 0;
};

}  // namespace hewn::flow
