// SPDX-License-Identifier: Apache-2.0
#include "shared_host.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <string>

#include <ATen/Functions.h>
#include <unistd.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "../buffers.hpp"

namespace renga::detail {
namespace {

constexpr std::size_t kHeader = 4096;  // begins with a number that tells this segment from any other

// Address space only: more than a process can use of memory that is there.
std::size_t segment_bytes() {
  const auto pages = static_cast<std::size_t>(std::max(1L, sysconf(_SC_PHYS_PAGES)));
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 2;
}

// The first error of any rank is thrown on all.
template <typename Action>
void together(const Communicator& ranks, const Action& action) {
  std::string error;
  try {
    action();
  } catch (const NotAvailable& failure) {
    error = failure.what();
  }
  const std::vector<std::string> errors = ranks.all_gather_text(error);
  const auto first = std::find_if(errors.begin(), errors.end(), [](const std::string& e) { return !e.empty(); });
  if (first != errors.end()) {
    throw NotAvailable(text(*first, " (rank ", first - errors.begin(), ')'));
  }
}

std::uint64_t draw() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device() | 1U;
}

}  // namespace

std::shared_ptr<SharedHost> SharedHost::open(const Communicator& ranks) {
  if (ranks.inter_size() != 1) {
    throw NotAvailable(text("shm: expected all ranks on one host, got ", ranks.inter_size(), " hosts"));
  }
  std::vector<Segment> segments;
  const std::uint64_t mark = draw();
  together(ranks, [&] {
    segments.push_back(Segment::create(segment_bytes()));
    if (segments.front().bytes() < kHeader || !segments.front().populate(0, kHeader)) {
      throw NotAvailable("shm: no memory to share is left");
    }
    std::memcpy(segments.front().data(), &mark, sizeof(mark));
  });
  const SegmentName own = segments.front().name();
  const std::vector<std::string> lines =
      ranks.all_gather_text(text(own.process, ' ', own.descriptor, ' ', own.bytes, ' ', mark));
  std::vector<Segment> all;
  together(ranks, [&] {
    for (std::size_t member = 0; member < lines.size(); ++member) {
      const std::vector<std::string> words = split_text(lines[member], ' ');
      const SegmentName name{std::stoll(words.at(0)), std::stoll(words.at(1)), std::stoull(words.at(2))};
      const bool self = static_cast<int>(member) == ranks.rank();
      all.push_back(self ? std::move(segments.front()) : Segment::open(name));
      // Another process of that number answers where process numbers are counted apart, as in containers.
      const std::string expected = words.at(3);
      std::uint64_t found = 0;
      std::memcpy(&found, all.back().data(), sizeof(found));
      if (std::to_string(found) != expected) {
        throw NotAvailable(text("shm: rank ", member, ": its memory cannot be reached from here"));
      }
    }
  });
  return std::shared_ptr<SharedHost>(new SharedHost(std::move(all), static_cast<std::size_t>(ranks.rank())));
}

SharedHost::SharedHost(std::vector<Segment> segments, std::size_t own)
    : segments_(std::move(segments)), own_(own), heap_(kHeader, segments_.at(own).bytes()), populated_(kHeader) {}

std::optional<std::size_t> SharedHost::take(std::size_t bytes) {
  const auto offset = heap_.take(bytes);
  if (!offset) {
    return std::nullopt;
  }
  const std::size_t end = *offset + bytes;
  if (end > populated_) {
    if (!segments_[own_].populate(populated_, end)) {
      heap_.give(*offset);
      return std::nullopt;
    }
    populated_ = end;
  }
  return offset;
}

at::Tensor SharedHost::allocate(std::int64_t elements, at::ScalarType dtype) {
  const std::size_t bytes = static_cast<std::size_t>(elements) * c10::elementSize(dtype);
  const auto offset = bytes == 0 ? std::nullopt : take(bytes);
  if (!offset) {
    return empty({elements}, dtype);
  }
  return at::from_blob(
      segments_[own_].data() + *offset, {elements},
      [host = shared_from_this(), at = *offset](void*) { host->heap_.give(at); }, at::TensorOptions(dtype));
}

std::int64_t SharedHost::offset_of(const at::Tensor& tensor) const {
  const auto* const data = static_cast<const char*>(tensor.data_ptr());
  const char* const begin = segments_[own_].data();
  return data >= begin && data < begin + segments_[own_].bytes() ? data - begin : -1;
}

char* SharedHost::memory(std::int64_t member, std::int64_t offset) const {
  return segments_[static_cast<std::size_t>(member)].data() + offset;
}

Block& SharedHost::block(const BlockPlace& place) const {
  return *std::launder(reinterpret_cast<Block*>(memory(place.member, place.offset)));
}

BlockPlace SharedHost::take_block() {
  const auto all_let_go = [this](const Retired& entry) {
    return std::all_of(entry.group.begin(), entry.group.end(), [this](const BlockPlace& place) {
      return block(place).retired.load(std::memory_order_acquire) >= static_cast<std::uint64_t>(place.group);
    });
  };
  const auto free = std::find_if(retired_.begin(), retired_.end(), all_let_go);
  BlockPlace place{static_cast<std::int64_t>(own_), 0, 1};
  if (free != retired_.end()) {
    place = {free->own.member, free->own.offset, free->own.group + 1};
    retired_.erase(free);
    block(place).arrived.store(0, std::memory_order_relaxed);
    return place;
  }
  const auto offset = take(sizeof(Block));
  if (!offset) {
    throw CommunicationError("shm: no memory to share is left for another group of ranks");
  }
  place.offset = static_cast<std::int64_t>(*offset);
  Block& fresh = block(place);
  fresh.arrived.store(0, std::memory_order_relaxed);
  fresh.retired.store(0, std::memory_order_relaxed);
  return place;
}

void SharedHost::retire_block(const BlockPlace& own, const std::vector<BlockPlace>& group) {
  block(own).retired.store(static_cast<std::uint64_t>(own.group), std::memory_order_release);
  retired_.push_back({own, group});
}

void SharedHost::progress() {
  for (Progressing* const group : groups_) {
    group->advance();
  }
}

}  // namespace renga::detail
