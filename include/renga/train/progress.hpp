// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace renga::train {

/// Names and values of the losses of a step, in the order they are shown.
using Losses = std::vector<std::pair<std::string, double>>;

struct ProgressOptions {
  std::int64_t total_steps = 1;
  std::int64_t images_per_step = 1;                  ///< of the global batch
  std::chrono::duration<double> line_interval{5.0};  ///< between lines where there is no terminal
};

/// Shows on standard error how far a run has come, on rank 0:
///
///     [=======>            ] 340/1200  512 images/s  d 0.6931  g 0.7033  1:23 left
///
/// On a terminal this line is redrawn in place, at most ten times a second; elsewhere (a file, a
/// batch system) the first and the last step and one every `line_interval` get a line, without the
/// bar.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Style : std::uint8_t { Bar, Lines };

  /// Style by whether standard error is a terminal.
  explicit Progress(ProgressOptions options);
  Progress(ProgressOptions options, std::ostream& out, Style style);
  /// Ends the line of a bar, so that an error message begins on a new one.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// @param step  steps done so far, `first_step` included
  void update(std::int64_t step, const Losses& losses, Clock::time_point now = Clock::now());

 private:
  std::string line(std::int64_t step, const Losses& losses, Clock::time_point now) const;
  bool is_due(std::int64_t step, Clock::time_point now) const;

  ProgressOptions options_;
  std::ostream& out_;
  Style style_;
  bool has_open_line_ = false;
  std::int64_t updates_ = 0;
  std::int64_t warm_step_ = 0;  ///< where the rate is counted from: the first two steps are slow
  Clock::time_point warm_time_{};
  std::optional<Clock::time_point> shown_;
};

/// "1:23", "1:02:03"
std::string duration_text(double seconds);

}  // namespace renga::train
