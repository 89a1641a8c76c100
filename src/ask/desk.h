// SPDX-License-Identifier: Apache-2.0
// Questions of a command to its operator: each is put once however many processes wait for it, answered once, remembered
// as long as the answer says, and ends in a no when nobody answers. No clock and no file of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace harn::ask {

using Time = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

struct Question {
  std::uint64_t id = 0;     // given by the desk
  std::string access = {};  // "read" "write" "create" "connect" "host"; "find" is asked as "read"
  std::string target = {};
  std::string rule = {};     // what would refuse it
  std::string warning = {};  // what a yes gives away, where that is much
  std::vector<std::string> processes = {};
  bool lasting = false;  // may be written into the policy
  milliseconds patience = {};

  bool operator==(const Question&) const = default;
};

enum class Word : std::uint8_t {
  once,
  run,
  policy,
  deny
};
struct Said {
  Word word = Word::deny;
  std::optional<milliseconds> lasts = {};  // of run and policy, as far as this run goes; unset = to its end
};

// How a question ended, for the record.
struct Ended {
  Question question = {};
  Word word = Word::deny;
  std::string why = {};  // of a no nobody said: "timed out", "the operator is gone", …
  std::optional<milliseconds> lasts = {};
};

struct DeskHooks {
  std::function<void(const Question&)> show = {};
  std::function<void(const Question&, std::string_view why)> withdraw = {};  // it was shown and needs no answer any more
  std::function<void(const Ended&)> ended = {};
};

struct DeskLimits {
  milliseconds patience{60'000};
  std::size_t open = 16;    // at one time
  std::size_t total = 100;  // of one run
};

using Settle = std::function<void(bool allowed)>;

class Desk {
 public:
  Desk(const DeskLimits& limits, DeskHooks hooks) : limits_(limits), hooks_(std::move(hooks)) {}

  // `settle` is called once: at once where the answer is known or nobody can be asked, unless gone() comes first.
  void ask(Question question, std::uint64_t waiter, Settle settle, Time now);
  void gone(std::uint64_t waiter);
  // An answer to a question that is over is nobody's.
  void answer(std::uint64_t id, const Said& said, Time now);
  void expire(Time now);
  std::optional<Time> next_expiry() const;
  // Whoever answered is not there any more: no to everything from now on.
  void close(std::string_view why);
  // No to everything that is open, and to nothing else.
  void refuse_open(std::string_view why);
  // Nobody is left to be told: what is open is taken back and recorded, and nothing settled.
  void abandon(std::string_view why);
  bool has_open() const { return !open_.empty(); }

 private:
  struct Key {
    std::string target = {};
    std::string kind = {};  // "read" "change" "connect" "host"
    auto operator<=>(const Key&) const = default;
  };
  struct Waiter {
    std::uint64_t id = 0;
    bool looks_only = false;  // a look takes no answer away from the open that follows
    Settle settle = {};
  };
  struct Open {
    Question question = {};
    Key key = {};
    Time until = {};
    std::vector<Waiter> waiters = {};
  };
  struct Remembered {
    bool allowed = false;
    bool once = false;
    std::optional<Time> until = {};
  };

  static Key key_of(const Question& question);
  std::optional<bool> known(const Key& key, bool looks_only, Time now);
  void finish(std::size_t index, Word word, std::string_view why, std::optional<milliseconds> lasts, Time now);

  DeskLimits limits_;
  DeskHooks hooks_;
  std::vector<Open> open_ = {};
  std::map<Key, Remembered> remembered_ = {};
  std::uint64_t asked_ = 0;
  std::string closed_ = {};
};

}  // namespace harn::ask
