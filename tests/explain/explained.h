// SPDX-License-Identifier: Apache-2.0
// A person, a project, a place outside, and a harn that explains: with a view and where there is none.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "usability/person.h"

namespace harn::test {

enum class Tier : std::uint8_t {
  view,
  bare  // no user namespaces: a supervisor decides
};
struct Stand {
  Tier tier = Tier::view;
  Who who = Who::caller;

  std::string name() const;
};
std::vector<Stand> explain_stands();

struct Told {
  std::string access = {};
  std::string target = {};
  std::string rule = {};
  std::string remedy = {};
  std::string hint = {};
  std::vector<std::string> processes = {};

  bool same_access(const Told& other) const { return access == other.access && target == other.target; }
};

struct Explained {
  int exit_code = -1;  // of harn
  std::vector<Told> denials = {};
  std::string all = {};  // everything harn said, for a failure's message
};

class Explaining {
 public:
  explicit Explaining(const Stand& stand);
  ~Explaining();
  Explaining(const Explaining&) = delete;
  Explaining& operator=(const Explaining&) = delete;

  // {P} the project, {O} a directory outside, {H} the home directory, {PORT} where somebody listens on the loopback,
  // {ABSTRACT} the name of an abstract socket somebody listens at. {O}/service is a Unix socket.
  std::string fill(std::string_view text) const;
  // Outside, as the person, in the project.
  void prepare(std::string_view script) const;
  Explained run(const std::vector<std::string>& flags, std::string_view script) const;
  Explained run_words(const std::vector<std::string>& flags, const std::vector<std::string>& command) const;
  const Person& person() const { return person_; }

 private:
  struct Listeners;
  Person person_;
  std::string outside_ = {};
  std::unique_ptr<Listeners> listeners_;
};

// As a shell takes flags apart; quotes are only single ones.
std::vector<std::string> words_of(const std::string& flags);

}  // namespace harn::test
