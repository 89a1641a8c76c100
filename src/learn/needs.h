// SPDX-License-Identifier: Apache-2.0
// What a command needs, collected over its runs: from what worked, and by which rule, and from what was
// refused. What nobody may be given without being asked about is kept apart.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harn/outcome.h"
#include "harn/policy.h"

namespace harn::learn {

struct Need {
  Access access = Access::read;
  std::string how = {};  // who was seen doing what, for people; the first there was
};

// Refused, and not granted without a yes of the operator.
struct Withheld {
  std::string what = {};  // a path, a host, a system call
  std::string access = {};
  std::string why = {};

  bool operator==(const Withheld&) const = default;
};

// Where the command stands. Kinds come from a function, so that tests need no files.
struct Ground {
  const HostFacts& facts;
  AbsPath project = {};
  std::function<PathKind(const AbsPath&)> kind_of = {};
};

class Needs {
 public:
  explicit Needs(Ground ground);

  // The operator's yes: paths of credentials, protected names, sockets, and hosts as rules write them.
  void say_yes(const std::string& what) { yes_.insert(what); }

  // Of one run under `rules`; `network` and `temp` say what its policy opened of these.
  struct Run {
    const PathRules& rules;
    bool network = false;
    bool temp = false;
  };
  void take_worked(const Refused& access, const Run& run);
  // True when it asks for something new.
  bool take_denial(const Denial& denial, const Run& run);
  void take_contact(const Contact& contact) { contacts_.insert({contact.host, contact.port}); }
  // A program that is started, and whatever the kernel opens to start it.
  bool take_program(const AbsPath& path, const std::string& how);

  const std::map<AbsPath, Need>& paths() const { return paths_; }
  const std::set<AbsPath>& credentials() const { return credentials_; }
  const std::set<AbsPath>& unprotected() const { return unprotected_; }
  const std::set<AbsPath>& sockets() const { return sockets_; }
  const std::set<HostRule>& hosts() const { return hosts_; }
  const std::set<std::pair<std::string, std::uint16_t>>& contacts() const { return contacts_; }
  const std::vector<Withheld>& withheld() const { return withheld_; }
  const std::set<AbsPath>& rules_used() const { return rules_used_; }  // places of rules that opened something
  const std::set<AbsPath>& touched() const { return touched_; }        // every path that worked because of a rule
  bool system() const { return system_; }
  bool temp() const { return temp_; }
  bool network() const { return network_; }

  // What of it stands there now: a run may have removed what it made. Changes need the first directory above that is there.
  std::optional<AbsPath> still_there(AbsPath path, Access access) const;
  // Never granted as a whole: the home directory, what lies above it, and where every program keeps its own there.
  bool is_too_wide(const AbsPath& path) const;

 private:
  bool need(const AbsPath& path, Access access, const std::string& how);
  bool need_change(const AbsPath& path, Wanted wanted, const std::string& how);
  bool withhold(Withheld what);
  bool said_yes(const std::string& what) const { return yes_.contains(what); }
  bool take_path(const Denial& denial, const AbsPath& path, const Run& run);
  bool take_host(const Denial& denial);
  bool take_call(const Denial& denial, const Run& run);
  bool is_system(const AbsPath& path) const;
  bool is_temporary(const AbsPath& path) const;
  bool is_of_the_user(const AbsPath& path) const;
  const AbsPath* secret_at(const AbsPath& path) const;

  Ground ground_;
  std::vector<AbsPath> secrets_ = {};
  std::vector<AbsPath> system_places_ = {};
  std::set<AbsPath> too_wide_ = {};
  std::set<std::string> yes_ = {};
  std::map<AbsPath, Need> paths_ = {};
  std::set<AbsPath> credentials_ = {};
  std::set<AbsPath> unprotected_ = {};
  std::set<AbsPath> sockets_ = {};
  std::set<HostRule> hosts_ = {};
  std::set<std::pair<std::string, std::uint16_t>> contacts_ = {};
  std::vector<Withheld> withheld_ = {};
  std::set<AbsPath> rules_used_ = {};
  std::set<AbsPath> touched_ = {};
  bool system_ = false;
  bool temp_ = false;
  bool network_ = false;
};

}  // namespace harn::learn
