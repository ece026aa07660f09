#include "hewn/report/metrics_log.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "hewn/core/error.h"

namespace hewn::report {
namespace {

constexpr size_t kChunk = 1 << 22;
constexpr size_t kLongestLine = 1 << 24;  // a record of 100,000 layers
constexpr int kDepth = 2;

}  // namespace

bool MetricsLog::read_more() {
  struct stat now {};
  if (::stat(path_.c_str(), &now) != 0 || !S_ISREG(now.st_mode)) return false;
  const auto size = static_cast<uint64_t>(now.st_size);
  if (now.st_ino != file_ || size < offset_) {
    *this = MetricsLog(path_);
    file_ = now.st_ino;
  }
  if (size == offset_) return false;
  std::ifstream in(path_, std::ios::binary);
  if (!in) throw Error(str(path_.string(), ": cannot be read"));
  in.seekg(static_cast<std::streamoff>(offset_));
  std::string rest;
  std::string chunk(kChunk, '\0');
  const int64_t before = lines_;
  while (in.read(chunk.data(), static_cast<std::streamsize>(kChunk)), in.gcount() > 0) {
    rest.append(chunk, 0, static_cast<size_t>(in.gcount()));
    size_t begin = 0;
    for (size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', begin)) {
      take(rest.substr(begin, end - begin));
      begin = end + 1;
    }
    offset_ += begin;
    rest.erase(0, begin);
    if (rest.size() > kLongestLine)
      throw FormatError(path_.string(), str("line ", lines_ + 1, " is too long"));
  }
  torn_ = !rest.empty();
  return lines_ != before;
}

void MetricsLog::take(const std::string& line) {
  ++lines_;
  const Json record = parse_shallow<Json>(line, kDepth);
  try {
    const auto step = record.at("step").get<int64_t>();
    const auto event = record.at("event").get<std::string>();
    if (event == "phase") phases_.push_back({record.at("phase").get<std::string>(), step});
    if (event == "train") take_training(record);
    if (event == "test") {
      for (const auto& [name, value] : record.at("metrics").items()) {
        if (value.is_number()) tests_[name].add(static_cast<double>(step), value.get<double>());
      }
    }
    step_ = std::max(step_, step);
  } catch (const Json::exception&) {
    if (damaged_++ == 0) first_damaged_ = lines_;
  }
}

void MetricsLog::take_training(const Json& record) {
  const auto step = static_cast<double>(record.at("step").get<int64_t>());
  const auto loss = record.at("loss").get<double>();
  const bool counted = record.contains("accuracy");  // regression has no right answers
  const double accuracy = counted ? record["accuracy"].get<double>() : 0;
  const auto rate = record.at("lr").get<double>();
  double sum = 0;
  double least = 1;
  double most = 0;
  const Json& active = record.at("active");
  for (const auto& [layer, fraction] : active.items()) {
    const auto value = fraction.get<double>();
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  loss_.add(step, loss);
  if (counted) accuracy_.add(step, accuracy);
  rate_.add(step, rate);
  if (active.empty()) return;
  active_.add(step, sum / static_cast<double>(active.size()));
  least_active_.add(step, least);
  most_active_.add(step, most);
}

std::string MetricsLog::problem() const {
  if (damaged_ == 0) return "";
  return str(path_.string(), ": line ", first_damaged_, " is damaged",
             damaged_ > 1 ? str(", and ", damaged_ - 1, " more") : "", "; left out");
}

}  // namespace hewn::report
