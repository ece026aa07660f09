#include "hewn/dist/communicator.h"

namespace hewn::dist {
namespace {

struct Done final : Pending {
  void wait() override {}
};

class Alone final : public Communicator {
 public:
  const Place& place() const override { return place_; }
  at::Device device() const override { return at::kCPU; }
  std::unique_ptr<Pending> start_sum(const at::Tensor&) override { return std::make_unique<Done>(); }
  void broadcast(const at::Tensor&) override {}
  std::vector<at::Tensor> gather(const at::Tensor& tensor) override { return {tensor}; }

 private:
  Place place_;
};

}  // namespace

std::shared_ptr<Communicator> alone() { return std::make_shared<Alone>(); }

}  // namespace hewn::dist
