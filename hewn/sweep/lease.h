#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace hewn::sweep {

/// A process among those that share a folder.
struct Holder {
  std::string host;     // for people
  std::string machine;  // this boot and its pid namespace: only there a pid means the same process
  int64_t pid = 0;
  std::string token;  // its own, whatever else is equal
  int64_t start = 0;  // seconds since 1970 by its own clock; for people

  static Holder self();
};

/// The right to work on one thing while all others keep off it. It lasts as long as it is renewed.
class Lease {
 public:
  Lease(std::filesystem::path folder, int64_t number, Holder holder, std::chrono::milliseconds patience);
  ~Lease();  // lets go
  Lease(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Lease& operator=(Lease&&) = delete;

  /// To be called all the time; does something when it is due. False: another has taken over, or may have.
  bool renew();
  /// Renews it now.
  bool confirm();

 private:
  using Clock = std::chrono::steady_clock;

  bool write(bool held);

  std::filesystem::path folder_;
  int64_t number_ = 0;  // 0: moved from
  Holder holder_;
  std::chrono::milliseconds patience_;
  int64_t beat_ = 0;
  Clock::time_point renewed_;
};

/// The leases of a folder, `folder`/NAME/1.json, 2.json and so on: each takes over from the one before, the
/// last one counts. See lease.cpp for why no two processes hold the same one.
class Leases {
 public:
  Leases(std::filesystem::path folder, Holder self, std::chrono::milliseconds patience);

  /// None while another holds it.
  std::optional<Lease> claim(const std::string& name);
  /// Waits for it; none where `stop` is not 0.
  std::optional<Lease> wait_for(const std::string& name, const std::atomic<int>& stop);
  /// Whether somebody holds it, or did and died.
  bool is_held(const std::string& name) const;

 private:
  using Clock = std::chrono::steady_clock;
  /// What was read last, and since when it reads so.
  struct Sight {
    std::string text;
    Clock::time_point since;
  };

  bool is_free(const std::string& name, int64_t number);

  std::filesystem::path folder_;
  Holder self_;
  std::chrono::milliseconds patience_;
  int64_t claims_ = 0;
  std::map<std::string, Sight> sights_;
};

}  // namespace hewn::sweep
