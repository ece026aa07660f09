#include "hewn/report/page.h"

#include <string_view>

#include "hewn/core/error.h"
#include "hewn/report/embedded_page.h"

namespace hewn::report {
namespace {

constexpr std::string_view kPlace = "/*HEWN-DATA*/null";

std::string filled(const std::string& data) {
  std::string page(embedded_page());
  if (page.empty()) {
    throw Error("this build has no report page: build with npm installed (cmake -DHEWN_WEB=ON)");
  }
  return page.replace(page.find(kPlace), kPlace.size(), data);
}

}  // namespace

std::string page_with(const Json& data) {
  // Inside a script element "</script" and "<!--" would end or change what follows.
  std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return filled(safe);
}

std::string live_page() { return filled("null"); }

}  // namespace hewn::report
