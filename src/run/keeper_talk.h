// SPDX-License-Identifier: Apache-2.0
// Orders to a keeper and its answers.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "harn/result.h"
#include "run/keeper/protocol.h"
#include "sys/unique_fd.h"

namespace harn::run {

struct Answered {
  keeper::Answer answer = {};
  pid_t holder = -1;  // who answered, as its number is here
};

// The pipes and the letter's descriptors, in the order keeper/protocol.h wants them. The connection must tell who answers.
Status send_letter(int connection, keeper::Order order, std::string_view letter, std::span<const int> fds);
Result<Answered> await_answer(int connection);
Result<Answered> ask_with_letter(int connection, keeper::Order order, std::string_view letter, std::span<const int> fds);
Status tell_who_answers(int connection);

struct Labels {
  const std::vector<std::string>& before;
  const std::vector<std::string>& after;
  std::string_view command = {};
};
// The step that failed, for a person.
Status judge(const keeper::Answer& answer, const Labels& labels);

Status send_order(int connection, const keeper::Order& order, std::span<const int> fds);
Error keeper_lost(std::string_view why, int error = 0);

}  // namespace harn::run
