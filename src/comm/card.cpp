// SPDX-License-Identifier: Apache-2.0
#include "card.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "renga/core/text.hpp"

namespace renga::detail {

// Words that are written one by one: whoever reads while they change sees a mixture, which matters to nobody, as what
// is read is what has stood still for RENGA_TIMEOUT.
struct CardPage {
  std::atomic<std::uint64_t> mark;
  std::atomic<int> end;
  std::atomic<std::uint64_t> group;
  std::atomic<std::int64_t> number;
  std::array<std::atomic<std::uint64_t>, 3> name;
};

namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "a lock would stay locked when a process dies");

constexpr std::uint64_t kMark = 0x72656e6761206331;  // tells our pages from anything else, and from other versions
constexpr std::size_t kBytes = sizeof(CardPage);

void* map(int descriptor, int protection) {
  return ::mmap(nullptr, kBytes, protection, descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, descriptor, 0);
}

}  // namespace

Card::Card() : descriptor_(::memfd_create("renga-card", MFD_CLOEXEC)) {
  if (descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(kBytes)) != 0) {
    ::close(std::exchange(descriptor_, -1));
  }
  void* const memory = map(descriptor_, PROT_READ | PROT_WRITE);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  page_ = new (memory) CardPage{};
  page_->mark = kMark;
}

std::optional<Card> Card::of(int process, int descriptor) {
  const int opened = ::open(text("/proc/", process, "/fd/", descriptor).c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) {
    return std::nullopt;
  }
  const bool whole = ::lseek(opened, 0, SEEK_END) == static_cast<off_t>(kBytes);
  void* const memory = whole ? map(opened, PROT_READ) : MAP_FAILED;
  ::close(opened);
  if (memory == MAP_FAILED) {
    return std::nullopt;
  }
  Card card(static_cast<CardPage*>(memory), -1);
  return card.page_->mark == kMark ? std::optional<Card>(std::move(card)) : std::nullopt;
}

Card::~Card() {
  if (page_ != nullptr) {
    ::munmap(page_, kBytes);
  }
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Card::Card(Card&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)), descriptor_(std::exchange(other.descriptor_, -1)) {}

void Card::set_end(End end) { page_->end = static_cast<int>(end); }

End Card::end() const { return static_cast<End>(page_->end.load()); }

void Card::set_progress(std::uint64_t group, std::int64_t number, const char* name) {
  std::array<std::uint64_t, 3> words{};
  std::memcpy(words.data(), name, strnlen(name, sizeof words));
  for (std::size_t i = 0; i < words.size(); ++i) {
    page_->name[i].store(words[i], std::memory_order_relaxed);
  }
  page_->group.store(group, std::memory_order_relaxed);
  page_->number.store(number, std::memory_order_release);
}

Progress Card::progress() const {
  Progress progress;
  progress.number = page_->number.load(std::memory_order_acquire);
  progress.group = page_->group.load(std::memory_order_relaxed);
  std::array<char, sizeof page_->name + 1> name{};
  for (std::size_t i = 0; i < page_->name.size(); ++i) {
    const std::uint64_t word = page_->name[i].load(std::memory_order_relaxed);
    std::memcpy(name.data() + i * sizeof word, &word, sizeof word);
  }
  progress.name = name.data();
  return progress;
}

}  // namespace renga::detail
