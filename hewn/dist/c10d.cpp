// Processes that talk through LibTorch's own c10d: Gloo between CPUs, NCCL between GPUs.
#include <ATen/ops/empty_like.h>
#include <torch/version.h>
#ifdef HEWN_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef HEWN_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "hewn/core/error.h"
#include "hewn/dist/communicator.h"
#include "hewn/dist/heartbeat.h"

namespace hewn::dist {
namespace {

#if TORCH_VERSION_MAJOR >= 2
using Group = c10d::Backend;
#else
using Group = c10d::ProcessGroup;
#endif

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Runs work with other processes; says who is gone where it fails.
template <class Work>
void guarded(const Place& place, Heartbeat& heartbeat, const Work& work) {
  std::string problem;
  try {
    work();
    return;
  } catch (const std::exception& error) {
    problem = first_line(error.what());
  }
  const std::vector<int64_t> lost = heartbeat.find_lost();
  std::string ranks;
  for (const int64_t rank : lost) ranks += str(ranks.empty() ? "" : ", ", rank);
  throw Error(str("rank ", place.rank, " of ", place.size, ": ",
                  lost.empty() ? std::string("the others do not answer")
                               : str("lost rank ", ranks, "; resume from the last checkpoint"),
                  " (", problem, ")"));
}

class C10d final : public Communicator {
 public:
  C10d(const Place& place, const JoinOptions& options) : place_(place), options_(options) {
    c10d::TCPStoreOptions store;
    store.port = static_cast<uint16_t>(place.port);
    store.isServer = place.first() && !place.store_is_up;
    store.waitWorkers = false;
    store.timeout = options.patience;
    try {
      store_ = c10::make_intrusive<c10d::TCPStore>(place.address, store);
      heartbeat_ = std::make_unique<Heartbeat>(place);
      make_group();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(str("rank ", place.rank, " of ", place.size, ": could not meet the others at ",
                      place.address, ":", place.port, " within ", options.patience.count(), " s (",
                      first_line(error.what()), ")"));
    }
  }

  const Place& place() const override { return place_; }
  at::Device device() const override { return options_.device; }

  std::unique_ptr<Pending> start_sum(const at::Tensor& tensor) override {
    auto out = std::make_unique<Waiting>(*this);
    out->tensors = {tensor};
    guarded(place_, *heartbeat_, [&] { out->work = group_->allreduce(out->tensors); });
    return out;
  }

  void broadcast(const at::Tensor& tensor) override {
    std::vector<at::Tensor> tensors = {tensor};
    guarded(place_, *heartbeat_, [&] { group_->broadcast(tensors)->wait(); });
  }

  std::vector<at::Tensor> gather(const at::Tensor& tensor) override {
    std::vector<std::vector<at::Tensor>> out(1);
    for (int64_t i = 0; i < place_.size; ++i) out[0].push_back(at::empty_like(tensor));
    std::vector<at::Tensor> mine = {tensor};
    guarded(place_, *heartbeat_, [&] { group_->allgather(out, mine)->wait(); });
    return out[0];
  }

 private:
  struct Waiting final : Pending {
    explicit Waiting(C10d& owner) : owner_(owner) {}
    void wait() override {
      guarded(owner_.place_, *owner_.heartbeat_, [&] { work->wait(); });
    }
    std::vector<at::Tensor> tensors;
    c10::intrusive_ptr<c10d::Work> work;

   private:
    C10d& owner_;
  };

  void make_group() {
    const auto store = c10::make_intrusive<c10d::PrefixStore>("hewn/group", store_);
    const auto rank = static_cast<int>(place_.rank);
    const auto size = static_cast<int>(place_.size);
    if (options_.device.is_cuda()) {
#ifdef HEWN_NCCL
      auto nccl = c10d::ProcessGroupNCCL::Options::create();
      nccl->timeout = options_.patience;
      group_ = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, nccl);
      return;
#else
      throw Error(
          "device cuda with several processes: this build found no NCCL headers when it was configured");
#endif
    }
#ifdef HEWN_GLOO
    auto gloo = c10d::ProcessGroupGloo::Options::create(options_.patience);
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    const bool here = place_.address == "127.0.0.1" || place_.address == "localhost";
    gloo->devices.push_back(interface != nullptr ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
                            : here ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                   : c10d::ProcessGroupGloo::createDefaultDevice());
    gloo->threads = 2;
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, gloo);
#else
    throw Error("device cpu with several processes: this build found no Gloo headers when it was configured");
#endif
  }

  Place place_;
  JoinOptions options_;
  c10::intrusive_ptr<c10d::TCPStore> store_;
  std::unique_ptr<Heartbeat> heartbeat_;
  c10::intrusive_ptr<Group> group_;
};

}  // namespace

std::shared_ptr<Communicator> join(const Place& place, const JoinOptions& options) {
  if (place.alone()) return alone();
  return std::make_shared<C10d>(place, options);
}

}  // namespace hewn::dist
