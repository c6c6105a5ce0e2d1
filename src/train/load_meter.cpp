// SPDX-License-Identifier: Apache-2.0
#include "renga/train/load_meter.hpp"

#include <cstddef>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace renga::train {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// The first line of /proc/stat: "cpu user nice system idle iowait irq softirq steal …", in clock ticks.
double machine_seconds() {
  std::ifstream in("/proc/stat");
  std::string word;
  in >> word;
  double ticks = 0;
  double value = 0;
  for (std::size_t field = 0; field < 8 && in >> value; ++field) {
    const bool idle = field == 3 || field == 4;
    ticks += idle ? 0.0 : value;
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

LoadMeter::Moment LoadMeter::now() {
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  return {std::chrono::steady_clock::now(), machine_seconds(), seconds(own.ru_utime) + seconds(own.ru_stime)};
}

Load LoadMeter::stop() const {
  const Moment end = now();
  return {std::chrono::duration<double>(end.time - begin_.time).count(), end.machine - begin_.machine,
          end.own - begin_.own};
}

}  // namespace renga::train
