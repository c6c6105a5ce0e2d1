// SPDX-License-Identifier: Apache-2.0
#include "renga/train/progress.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

#include <sys/ioctl.h>
#include <unistd.h>

namespace renga::train {
namespace {

constexpr std::int64_t kBarWidth = 20;
constexpr std::int64_t kWarmUpdates = 2;
constexpr std::chrono::duration<double> kRedrawInterval{0.1};

std::string bar(std::int64_t step, std::int64_t total) {
  const std::int64_t filled = std::clamp<std::int64_t>(step * kBarWidth / total, 0, kBarWidth);
  std::string inside(static_cast<std::size_t>(filled), '=');
  if (filled < kBarWidth) {
    inside += '>';
  }
  inside.resize(kBarWidth, ' ');
  return "[" + inside + "] ";
}

// A line longer than the terminal could not be redrawn in place.
std::size_t terminal_width() {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? size.ws_col - 1U : 79U;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::clamp(seconds, 0.0, 1e9)));
  std::ostringstream out;
  out << std::setfill('0');
  if (whole >= 3600) {
    out << whole / 3600 << ':' << std::setw(2);
  }
  out << whole / 60 % 60 << ':' << std::setw(2) << whole % 60;
  return out.str();
}

Progress::Progress(ProgressOptions options)
    : Progress(options, std::cerr, ::isatty(STDERR_FILENO) == 1 ? Style::Bar : Style::Lines) {}

Progress::Progress(ProgressOptions options, std::ostream& out, Style style)
    : options_(options), out_(out), style_(style) {
  options_.total_steps = std::max<std::int64_t>(options_.total_steps, 1);
}

Progress::~Progress() {
  if (has_open_line_) {
    out_ << '\n' << std::flush;
  }
}

bool Progress::is_due(std::int64_t step, Clock::time_point now) const {
  const auto interval = style_ == Style::Bar ? kRedrawInterval : options_.line_interval;
  return !shown_ || step >= options_.total_steps || now - *shown_ >= interval;
}

std::string Progress::line(std::int64_t step, const Losses& losses, Clock::time_point now) const {
  std::ostringstream out;
  out << (style_ == Style::Bar ? bar(step, options_.total_steps) : "step ") << step << '/' << options_.total_steps;
  const double seconds = std::chrono::duration<double>(now - warm_time_).count();
  const bool has_rate = updates_ > kWarmUpdates && seconds > 0 && step > warm_step_;
  const double rate = has_rate ? static_cast<double>(step - warm_step_) / seconds : 0.0;
  out << std::fixed;
  if (has_rate) {
    const double images = rate * static_cast<double>(options_.images_per_step);
    out << "  " << std::setprecision(images < 100 ? 1 : 0) << images << " images/s";
  }
  out << std::setprecision(4);
  for (const auto& [name, value] : losses) {
    out << "  " << name << ' ' << value;
  }
  if (has_rate && step < options_.total_steps) {
    out << "  " << duration_text(static_cast<double>(options_.total_steps - step) / rate) << " left";
  }
  return out.str();
}

void Progress::update(std::int64_t step, const Losses& losses, Clock::time_point now) {
  ++updates_;
  if (updates_ <= kWarmUpdates) {
    warm_step_ = step;
    warm_time_ = now;
  }
  if (!is_due(step, now)) {
    return;
  }
  shown_ = now;
  const std::string shown = line(step, losses, now);
  if (style_ == Style::Lines) {
    out_ << shown << '\n' << std::flush;
    return;
  }
  has_open_line_ = step < options_.total_steps;
  out_ << '\r' << shown.substr(0, terminal_width()) << "\x1b[K" << (has_open_line_ ? "" : "\n") << std::flush;
}

}  // namespace renga::train
