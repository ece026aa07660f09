#include "hewn/convex/path_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace hewn::convex {
namespace {

constexpr double kWidth = 760, kHeight = 440, kLeft = 60, kRight = 150, kTop = 30, kBottom = 50;
constexpr std::array<const char*, 8> kColours = {"#0b6e99", "#d9730d", "#2e7d32", "#8e44ad",
                                                 "#c0392b", "#16a085", "#7f6000", "#34495e"};
constexpr std::size_t kNamed = 12;

std::string number(double value, const char* format = "%.1f") {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out.push_back(c);
  }
  return out;
}

std::string text_at(double x, double y, const std::string& anchor, const std::string& text,
                    const std::string& fill) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\" fill=\"" +
         fill + "\">" + escaped(text) + "</text>\n";
}

}  // namespace

std::string path_svg(const Path& path, const Groups& groups, const std::vector<std::string>& names,
                     int chosen) {
  const std::size_t count = path.solutions.size();
  std::vector<std::vector<double>> norms(to_size(groups.count()));
  double highest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Solution& s = path.solutions[i];
    Index at = 0;
    for (const Index g : s.support) {
      auto& own = norms[to_size(g)];
      own.resize(count, 0);
      own[i] = Eigen::Map<const Vector>(s.values.data() + at, groups.size(g)).norm();
      highest = std::max(highest, own[i]);
      at += groups.size(g);
    }
  }
  if (highest == 0) highest = 1;
  const double first =
      count > 0 && path.solutions.front().lambda > 0 ? std::log10(path.solutions.front().lambda) : 0;
  const double last =
      count > 0 && path.solutions.back().lambda > 0 ? std::log10(path.solutions.back().lambda) : first;
  const auto x_of = [&](double lambda) {
    const double share = first > last && lambda > 0 ? (first - std::log10(lambda)) / (first - last) : 0;
    return kLeft + share * (kWidth - kLeft - kRight);
  };
  const auto y_of = [&](double norm) {
    return kHeight - kBottom - norm / highest * (kHeight - kTop - kBottom);
  };

  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 440\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n";
  out += "<rect width=\"760\" height=\"440\" fill=\"#ffffff\"/>\n";
  for (int i = 0; i <= 4; ++i) {
    const double value = highest * i / 4;
    out += "<line x1=\"" + number(kLeft) + "\" x2=\"" + number(kWidth - kRight) + "\" y1=\"" +
           number(y_of(value)) + "\" y2=\"" + number(y_of(value)) + "\" stroke=\"#e5e5e5\"/>\n";
    out += text_at(kLeft - 6, y_of(value) + 4, "end", number(value, "%.3g"), "#555555");
    const double lambda = std::pow(10, first + (last - first) * i / 4);
    out += text_at(x_of(lambda), kHeight - kBottom + 18, "middle", number(lambda, "%.3g"), "#555555");
  }
  out += text_at((kLeft + kWidth - kRight) / 2, kHeight - 10, "middle", "lambda (logarithmic, falling)",
                 "#333333");
  out += text_at(kLeft, kTop - 10, "start", "norm of each group's coefficients", "#333333");
  if (chosen >= 0 && to_size(chosen) < count) {
    const double x = x_of(path.solutions[to_size(chosen)].lambda);
    out += "<line x1=\"" + number(x) + "\" x2=\"" + number(x) + "\" y1=\"" + number(kTop) + "\" y2=\"" +
           number(kHeight - kBottom) + "\" stroke=\"#888888\" stroke-dasharray=\"4 3\"/>\n";
  }
  std::vector<std::pair<double, std::size_t>> ends;  // height at the end, group
  for (std::size_t g = 0; g < norms.size(); ++g) {
    if (norms[g].empty()) continue;
    ends.emplace_back(norms[g].back(), g);
    out += "<polyline fill=\"none\" stroke=\"" + std::string(kColours[g % kColours.size()]) +
           "\" stroke-width=\"1.5\" points=\"";
    for (std::size_t i = 0; i < count; ++i) {
      out += number(x_of(path.solutions[i].lambda)) + "," + number(y_of(norms[g][i])) + " ";
    }
    out += "\"/>\n";
  }
  std::sort(ends.rbegin(), ends.rend());
  double free_from = 0;
  for (std::size_t i = 0; i < std::min(kNamed, ends.size()); ++i) {
    const double y = std::max(y_of(ends[i].first) + 4, free_from);
    free_from = y + 13;
    out += text_at(kWidth - kRight + 8, y, "start", names[ends[i].second],
                   kColours[ends[i].second % kColours.size()]);
  }
  return out + "</svg>\n";
}

}  // namespace hewn::convex
