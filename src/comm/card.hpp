// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace renga::detail {

/// How far a process is on its way out.
enum class End : int {
  None,    ///< it runs; if it is gone nevertheless, something ended it
  Spoken,  ///< it failed and has printed why
  Silent,  ///< it failed, and another rank prints why
  Agreed   ///< every rank knows how it ended
};

/// The last collective that a process has begun.
struct Progress {
  std::uint64_t group = 0;  ///< the same on all ranks of a communicator
  std::int64_t number = 0;
  std::string name;  ///< its first 24 characters
};

struct CardPage;

/// What a process lets the others of its host see, also when it is stopped or dead: one page of memory, kept in no file
/// that could be left behind. Reading and writing it waits for nothing.
class Card {
 public:
  /// This process's own, which others find by number of process and `descriptor`.
  Card();
  /// Another's, to read only; nothing where the system does not let us see it.
  static std::optional<Card> of(int process, int descriptor);
  ~Card();
  Card(Card&& other) noexcept;
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;
  Card& operator=(Card&&) = delete;

  /// Negative if others cannot see this card.
  int descriptor() const { return descriptor_; }

  void set_end(End end);
  End end() const;
  void set_progress(std::uint64_t group, std::int64_t number, const char* name);
  Progress progress() const;

 private:
  Card(CardPage* page, int descriptor) : page_(page), descriptor_(descriptor) {}
  CardPage* page_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace renga::detail
