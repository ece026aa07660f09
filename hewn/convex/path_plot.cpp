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

std::string line(double x1, double x2, double y1, double y2, const std::string& style) {
  return "<line x1=\"" + number(x1) + "\" x2=\"" + number(x2) + "\" y1=\"" + number(y1) + "\" y2=\"" +
         number(y2) + "\" " + style + "/>\n";
}

const char* colour_of(std::size_t group) { return kColours[group % kColours.size()]; }

/// Norms per group and lambda; empty for groups that are never selected.
std::vector<std::vector<double>> norms_of(const Path& path, const Groups& groups) {
  std::vector<std::vector<double>> out(to_size(groups.count()));
  for (std::size_t i = 0; i < path.solutions.size(); ++i) {
    const Solution& s = path.solutions[i];
    Index at = 0;
    for (const Index g : s.support) {
      auto& own = out[to_size(g)];
      own.resize(path.solutions.size(), 0);
      own[i] = Eigen::Map<const Vector>(s.values.data() + at, groups.size(g)).norm();
      at += groups.size(g);
    }
  }
  return out;
}

/// Where lambdas and norms lie in the picture.
struct Axes {
  double first = 0;  // logarithms of the outermost lambdas
  double last = 0;
  double highest = 0;  // norm

  Axes(const Path& path, const std::vector<std::vector<double>>& norms) {
    for (const auto& own : norms) {
      for (const double norm : own) highest = std::max(highest, norm);
    }
    if (highest == 0) highest = 1;
    const auto log_of = [&](const Solution& s, double otherwise) {
      return s.lambda > 0 ? std::log10(s.lambda) : otherwise;
    };
    if (path.solutions.empty()) return;
    first = log_of(path.solutions.front(), 0);
    last = log_of(path.solutions.back(), first);
  }
  double x(double lambda) const {
    const double share = first > last && lambda > 0 ? (first - std::log10(lambda)) / (first - last) : 0;
    return kLeft + share * (kWidth - kLeft - kRight);
  }
  double y(double norm) const { return kHeight - kBottom - norm / highest * (kHeight - kTop - kBottom); }
};

std::string drawn_axes(const Axes& axes) {
  std::string out;
  for (int i = 0; i <= 4; ++i) {
    const double value = axes.highest * i / 4;
    out += line(kLeft, kWidth - kRight, axes.y(value), axes.y(value), "stroke=\"#e5e5e5\"");
    out += text_at(kLeft - 6, axes.y(value) + 4, "end", number(value, "%.3g"), "#555555");
    const double lambda = std::pow(10, axes.first + (axes.last - axes.first) * i / 4);
    out += text_at(axes.x(lambda), kHeight - kBottom + 18, "middle", number(lambda, "%.3g"), "#555555");
  }
  out += text_at((kLeft + kWidth - kRight) / 2, kHeight - 10, "middle", "lambda (logarithmic, falling)",
                 "#333333");
  return out + text_at(kLeft, kTop - 10, "start", "norm of each group's coefficients", "#333333");
}

/// One line per group, and the names of those that end highest.
std::string drawn_groups(const Axes& axes, const Path& path, const std::vector<std::vector<double>>& norms,
                         const std::vector<std::string>& names) {
  std::string out;
  std::vector<std::pair<double, std::size_t>> ends;  // height at the end, group
  for (std::size_t g = 0; g < norms.size(); ++g) {
    if (norms[g].empty()) continue;
    ends.emplace_back(norms[g].back(), g);
    out +=
        "<polyline fill=\"none\" stroke=\"" + std::string(colour_of(g)) + "\" stroke-width=\"1.5\" points=\"";
    for (std::size_t i = 0; i < norms[g].size(); ++i) {
      out += number(axes.x(path.solutions[i].lambda)) + "," + number(axes.y(norms[g][i])) + " ";
    }
    out += "\"/>\n";
  }
  std::sort(ends.rbegin(), ends.rend());
  double free_from = 0;
  for (std::size_t i = 0; i < std::min(kNamed, ends.size()); ++i) {
    const double y = std::max(axes.y(ends[i].first) + 4, free_from);
    free_from = y + 13;
    out += text_at(kWidth - kRight + 8, y, "start", names[ends[i].second], colour_of(ends[i].second));
  }
  return out;
}

}  // namespace

std::string path_svg(const Path& path, const Groups& groups, const std::vector<std::string>& names,
                     int chosen) {
  const std::vector<std::vector<double>> norms = norms_of(path, groups);
  const Axes axes(path, norms);
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 440\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n";
  out += "<rect width=\"760\" height=\"440\" fill=\"#ffffff\"/>\n";
  out += drawn_axes(axes);
  if (chosen >= 0 && to_size(chosen) < path.solutions.size()) {
    const double x = axes.x(path.solutions[to_size(chosen)].lambda);
    out += line(x, x, kTop, kHeight - kBottom, "stroke=\"#888888\" stroke-dasharray=\"4 3\"");
  }
  return out + drawn_groups(axes, path, norms, names) + "</svg>\n";
}

}  // namespace hewn::convex
