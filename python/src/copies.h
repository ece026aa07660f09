#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace hewn::python {

/// A model that any number of threads may run: each call has a copy of its own, which is kept for the next.
template <class Model>
class Copies {
 public:
  explicit Copies(Model model) : model_(std::move(model)) {}

  const Model& model() const { return model_; }

  /// Calls `body` with a copy that nobody else uses.
  template <class Body>
  void use(const Body& body) {
    std::unique_ptr<Model> mine = take();
    body(*mine);
    const std::scoped_lock lock(mutex_);
    if (mine->threads() == model_.threads()) free_.push_back(std::move(mine));
  }

  void set_threads(int threads) {
    const std::scoped_lock lock(mutex_);
    model_.set_threads(threads);
    free_.clear();
  }

 private:
  std::unique_ptr<Model> take() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) return std::make_unique<Model>(model_);
    std::unique_ptr<Model> out = std::move(free_.back());
    free_.pop_back();
    return out;
  }

  std::mutex mutex_;
  Model model_;
  std::vector<std::unique_ptr<Model>> free_;
};

}  // namespace hewn::python
