// SPDX-License-Identifier: Apache-2.0
// From a notification to an answer, once per trapped call; calls that would block wait here.
#pragma once

#include <linux/seccomp.h>

#include "run/supervisor/look.h"

namespace harn::run::supervisor {

// What the launcher asked for beyond the rules: see protocol.h.
struct Orders {
  Duties duties = {};
  const RefusedCall* refused = nullptr;
  const std::uint32_t* looked_at = nullptr;
  std::string_view sockets = {};

  const RefusedCall* refusal_of(std::uint32_t call) const {
    for (std::uint32_t i = 0; i < duties.refused; ++i)
      if (refused[i].number == call) return &refused[i];
    return nullptr;
  }
  bool looks_at(std::uint32_t call) const {
    for (std::uint32_t i = 0; i < duties.looked_at; ++i)
      if (looked_at[i] == call) return true;
    return false;
  }
};

class Server {
 public:
  Server(int listener, const Rules& rules, const Orders& orders)
      : listener_(listener),
        rules_(rules),
        orders_(orders),
        teller_(rules, orders.duties.records != 0),
        reads_go_on_(orders.duties.reads == 0 && orders.duties.records == 0 && orders.duties.asks == 0),
        reach_{.sockets = orders.sockets,
               .abstract_names = orders.duties.abstract_names != 0,
               .bound = &bound_,
               .stream_port = orders.duties.stream_port,
               .resolver_port = orders.duties.resolver_port,
               .announcements = orders.duties.announcements} {}

  // Of the sockets the policy names, those whose names the command may move. Before anything is served.
  void hold_sockets();
  // Takes one notification and answers it. To be called when the listener is readable.
  void serve();
  // Tries the calls that would have blocked once more.
  void serve_waiting();
  bool has_waiting() const { return waiting_count_ != 0; }

  // Calls that wait for somebody's word (asked.cpp): one answer, to be called when the launcher has sent something, and a
  // look whether whoever asked is still there.
  bool asks() const { return orders_.duties.asks != 0; }
  bool has_asked() const { return asked_count_ != 0; }
  void take_verdict();
  void look_after_asked();

 private:
  struct Waiting {
    seccomp_notif call = {};
    Fd kept = {};
  };
  static constexpr int most_waiting = 64;

  struct Asked {
    seccomp_notif call = {};
    Wanted wanted = Wanted::calling;
    Word error = 0;
    bool goes_on = false;  // when it is refused: the kernel says so itself
  };
  // False when nobody can be asked.
  bool ask(const Caller& caller, const seccomp_notif& call, Wanted wanted, std::string_view path, Word error, bool goes_on);
  bool ask_about_path(const Caller& caller, const seccomp_notif& call, Word error);
  void settle(const Asked& asked, bool allowed, Fd given);
  void drop_asked(int index) { asked_[index] = asked_[--asked_count_]; }

  // False when it has to wait.
  bool answer(const seccomp_notif& call, Fd& kept);
  // False when the call is one to be made on behalf.
  bool answer_without_acting(const Caller& caller, const seccomp_notif& call);
  void send(const seccomp_notif& call, Word value) const;
  void send_count(const seccomp_notif& call, Word value) const;
  void let_go_on(const seccomp_notif& call) const;
  void send_descriptor(const seccomp_notif& call, Answer& answer) const;

  int listener_;
  const Rules& rules_;
  const Orders& orders_;
  Teller teller_;
  // Reading is seen here only to tell of refusals.
  bool reads_go_on_;
  Bound bound_ = {};
  Umasks umasks_ = {};
  Reach reach_;
  Trace trace_ = {};
  Waiting waiting_[most_waiting] = {};
  int waiting_count_ = 0;
  Finding finding_ = {};
  Asked asked_[most_asked] = {};
  int asked_count_ = 0;
};

}  // namespace harn::run::supervisor
