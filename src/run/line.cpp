// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <utility>

#include "run/keeper_talk.h"
#include "run/kept.h"

namespace harn::run {

Result<sys::UniqueFd> reserve_in(const AbsPath& directory) {
  HARN_TRY(connection, connect_in(directory));
  HARN_OK(send_order(connection.get(), {.kind = keeper::Kind::reserve}, {}));
  HARN_OK(tell_who_answers(connection.get()));
  return connection;
}

Result<sys::UniqueFd> Line::take(const AbsPath& directory) {
  sys::UniqueFd next;
  {
    const std::scoped_lock alone(lock_);
    next = std::move(next_);
  }
  // Nothing is ever said on it before the letter: whatever stirs there means that nobody is left.
  pollfd quiet = {.fd = next.get(), .events = POLLIN, .revents = 0};
  if (next && ::poll(&quiet, 1, 0) == 0) return next;
  return reserve_in(directory);
}

void Line::prepare(const AbsPath& directory) {
  const std::scoped_lock alone(lock_);
  if (next_) return;
  if (auto reserved = reserve_in(directory)) next_ = std::move(*reserved);
}

void Line::renew(const AbsPath& directory) {
  if (lasting_) prepare(directory);
}

}  // namespace harn::run
