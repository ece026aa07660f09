#include "hewn/train/ranks/same_ranks.h"

#include <ATen/ops/full.h>

#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/dist/text.h"
#include "hewn/run/options.h"

namespace hewn::train {
namespace {

/// The first key that two objects do not agree on; "" where there is none.
std::string first_difference(const Json& a, const Json& b) {
  for (const Json* from : {&a, &b}) {
    for (const auto& [key, value] : from->items()) {
      if (!a.contains(key) || !b.contains(key) || a[key] != b[key]) return key;
    }
  }
  return "";
}

std::string shown(const Json& json, const std::string& key) {
  return json.contains(key) ? json[key].dump() : "none";
}

/// All processes must hear of it, or some would wait for the others.
void check_same(const Json& own, const std::string& what, dist::Communicator& group) {
  const dist::Place& place = group.place();
  if (place.alone()) return;
  const Json first = Json::parse(dist::broadcast_text(group, own.dump()));
  const std::string key = first_difference(first, own);
  const std::vector<at::Tensor> differs =
      group.gather(at::full({1}, int64_t{key.empty() ? 0 : 1}, group.device()));
  if (!key.empty()) {
    throw Error(hewn::str("rank ", place.rank, " of ", place.size, ": other ", what, " than rank 0: ", key,
                          " is ", shown(own, key), ", not ", shown(first, key)));
  }
  for (size_t rank = 0; rank < differs.size(); ++rank) {
    if (differs[rank].item<int64_t>() != 0)
      throw Error(hewn::str("rank ", place.rank, " of ", place.size, ": rank ", rank, " has other ", what));
  }
}

}  // namespace

void check_same_options(const std::map<std::string, std::string>& given, dist::Communicator& group) {
  Json own = Json::object();
  for (const auto& [key, text] : given) {
    if (!run::may_change_on_resume(key)) own[key] = valid_utf8(text);
  }
  check_same(own, "options", group);
}

void check_same_data(const data::Source& source, dist::Communicator& group) {
  if (group.place().alone()) return;
  const data::DataInfo& info = source.info();
  check_same({{"name", info.name},
              {"input", info.input},
              {"classes", info.classes},
              {"training rows", info.train_size},
              {"held-out rows", info.test_size},
              {"vocabularies", info.vocabularies},
              {"checksum", source.fingerprint()}},
             "data", group);
}

}  // namespace hewn::train
