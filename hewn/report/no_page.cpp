#include "hewn/report/embedded_page.h"

namespace hewn::report {

std::string_view embedded_page() { return {}; }

}  // namespace hewn::report
