// Leases in a folder that several machines share, NFS included. What makes them safe:
//
// - Taking over from lease N is creating N+1 exclusively (O_EXCL), which the server decides: of any number of
//   takers one wins, also against one that looked long ago and comes late. (Renaming a file over that of a
//   silent holder could not promise that: a late taker would replace a lease just taken and believe in it.)
// - Leases are never removed, so that a number once taken stays taken. Only its holder writes a lease.
// - Clocks differ between machines: a holder is silent when its file reads the same for `patience` of the
//   reader's own steady clock. Nobody compares its time with that of another.
// - A client of NFS may show an old file or hide a new one for a while. Before taking over we make a file
//   beside the lease, which lets the client see that the folder has changed, and read once more. A holder
//   renews by renaming, to the same effect, and then looks for its successor.
// - A holder that could not renew for its patience gives up: others may have taken over by then.
#include "hewn/sweep/lease.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json.h"

namespace hewn::sweep {
namespace {

constexpr std::chrono::milliseconds kAskAgain{50};
constexpr int kRenewalsPerPatience = 6;
constexpr uintmax_t kLongestText = 1 << 16;
constexpr int64_t kLongestPatience = 24LL * 3600 * 1000;

std::filesystem::path lease_path(const std::filesystem::path& folder, int64_t number) {
  return folder / str(number, ".json");
}

bool is_there(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

/// "" where it cannot be read: it is being made, or its holder died as it was.
std::string lease_text(const std::filesystem::path& folder, int64_t number) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(lease_path(folder, number), unknown);
  if (unknown || size > kLongestText) return "";
  try {
    return read_file(lease_path(folder, number));
  } catch (const Error&) {
    return "";
  }
}

/// The number of the last lease; 0: there was none.
int64_t last_number(const std::filesystem::path& folder) {
  int64_t number = 0;
  while (is_there(lease_path(folder, number + 1))) ++number;
  return number;
}

struct LeaseRecord {
  std::string machine;
  int64_t pid = 0;
  std::string token;
  std::chrono::milliseconds patience{0};
  bool held = true;
};

/// What a lease says, as far as it can be believed.
LeaseRecord lease_record(const std::string& text) {
  LeaseRecord out;
  const Json json = parse_shallow<Json>(text, 2);
  if (!json.is_object()) return out;
  const auto word = [&](const char* key) {
    const Json value = json.value(key, Json());
    return value.is_string() ? value.get<std::string>() : "";
  };
  const auto number = [&](const char* key) {
    const Json value = json.value(key, Json());
    return value.is_number_integer() ? value.get<int64_t>() : 0;
  };
  out.machine = word("machine");
  out.token = word("token");
  out.pid = number("pid");
  out.patience = std::chrono::milliseconds(std::clamp<int64_t>(number("patience_ms"), 0, kLongestPatience));
  out.held = json.value("held", Json()) != Json(false);
  return out;
}

std::string lease_content(const Holder& holder, std::chrono::milliseconds patience, int64_t beat, bool held) {
  return Json{{"host", holder.host},
              {"machine", holder.machine},
              {"pid", holder.pid},
              {"token", holder.token},
              {"start", holder.start},
              {"beat", beat},
              {"patience_ms", patience.count()},
              {"held", held}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

/// Makes the file with this text. False where it is there already.
bool create_exclusively(const std::filesystem::path& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0 && errno == EEXIST) return false;
  const bool whole = file >= 0 &&
                     ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                     ::fsync(file) == 0;
  const int problem = errno;
  if (file >= 0) ::close(file);
  if (!whole) throw Error(str(path.string(), ": cannot be written: ", std::strerror(problem)));
  return true;
}

std::string one_line_of(const std::filesystem::path& path) {
  std::array<char, 128> line{};
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : ::read(file, line.data(), line.size());
  if (file >= 0) ::close(file);
  const std::string text(line.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return text.substr(0, text.find('\n'));
}

}  // namespace

Holder Holder::self() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::error_code unknown;
  const std::string pids = std::filesystem::read_symlink("/proc/self/ns/pid", unknown).string();
  const std::string boot = one_line_of("/proc/sys/kernel/random/boot_id");
  std::random_device random;  // decides nothing but who is who
  std::ostringstream token;
  for (int i = 0; i < 4; ++i) token << std::hex << random() << (i < 3 ? "-" : "");
  // Without both we know of no machine that it is ours, and wait.
  return {valid_utf8(host.data()), boot.empty() || pids.empty() ? "" : boot + " " + pids, ::getpid(),
          token.str(), std::time(nullptr)};
}

Lease::Lease(std::filesystem::path folder, int64_t number, Holder holder, std::chrono::milliseconds patience)
    : folder_(std::move(folder)), number_(number), holder_(std::move(holder)), patience_(patience) {
  renewed_ = Clock::now();
}

Lease::Lease(Lease&& other) noexcept
    : folder_(std::move(other.folder_)),
      number_(std::exchange(other.number_, 0)),
      holder_(std::move(other.holder_)),
      patience_(other.patience_),
      beat_(other.beat_),
      renewed_(other.renewed_) {}

Lease::~Lease() {
  if (number_ == 0) return;
  try {
    write(false);
  } catch (const std::exception&) {
    // Then it falls silent.
  }
}

/// False where it is no longer ours to write: somebody has removed the folder and begun anew.
bool Lease::write(bool held) {
  const std::string before = lease_text(folder_, number_);
  if (before.empty()) throw Error(str(lease_path(folder_, number_).string(), ": cannot be read"));
  if (lease_record(before).token != holder_.token) return false;
  write_file_atomically(lease_path(folder_, number_), lease_content(holder_, patience_, ++beat_, held));
  return true;
}

bool Lease::renew() { return Clock::now() - renewed_ < patience_ / kRenewalsPerPatience || confirm(); }

bool Lease::confirm() {
  const Clock::time_point begin = Clock::now();
  try {
    if (!write(true)) return false;
  } catch (const Error&) {
    return Clock::now() - renewed_ < patience_ && !is_there(lease_path(folder_, number_ + 1));
  }
  if (is_there(lease_path(folder_, number_ + 1))) return false;
  renewed_ = begin;
  return true;
}

Leases::Leases(std::filesystem::path folder, Holder self, std::chrono::milliseconds patience)
    : folder_(std::move(folder)), self_(std::move(self)), patience_(patience) {}

/// Whether the holder of a lease has let go, is dead or silent.
bool Leases::is_free(const std::string& name, int64_t number) {
  const std::string text = lease_text(folder_ / name, number);
  const LeaseRecord record = lease_record(text);
  if (!record.held) return true;
  if (!self_.machine.empty() && record.machine == self_.machine && record.pid > 0 &&
      ::kill(static_cast<pid_t>(record.pid), 0) != 0 && errno == ESRCH) {
    return true;
  }
  Sight& sight = sights_[name];
  const std::string seen = str(number, " ", text);
  if (sight.text != seen) sight = {seen, Clock::now()};
  return Clock::now() - sight.since >= std::max(patience_, record.patience);
}

std::optional<Lease> Leases::claim(const std::string& name) {
  const std::filesystem::path place = folder_ / name;
  const int64_t before = last_number(place);
  if (before > 0 && !is_free(name, before)) return std::nullopt;
  make_writable_folder(place);
  if (before > 0 && !is_free(name, before)) return std::nullopt;
  Holder holder = self_;
  holder.token += str("-", ++claims_);
  if (!create_exclusively(lease_path(place, before + 1), lease_content(holder, patience_, 0, true))) {
    return std::nullopt;
  }
  sights_.erase(name);
  return Lease(place, before + 1, holder, patience_);
}

std::optional<Lease> Leases::wait_for(const std::string& name, const std::atomic<int>& stop) {
  while (stop == 0) {
    if (std::optional<Lease> lease = claim(name)) return lease;
    std::this_thread::sleep_for(kAskAgain);
  }
  return std::nullopt;
}

bool Leases::is_held(const std::string& name) const {
  const int64_t number = last_number(folder_ / name);
  return number > 0 && lease_record(lease_text(folder_ / name, number)).held;
}

}  // namespace hewn::sweep
