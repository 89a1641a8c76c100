// SPDX-License-Identifier: Apache-2.0
// Sockets that listen outside, for a confined child to fail to reach.
#pragma once

#include <netinet/in.h>
#include <sys/un.h>

#include "run/launch.h"

namespace harn::prove {

class OutsideListeners {
 public:
  // A named socket is made in `directory`. What cannot be made is not there to be reached.
  explicit OutsideListeners(const AbsPath& directory);
  OutsideListeners(const OutsideListeners&) = delete;
  OutsideListeners& operator=(const OutsideListeners&) = delete;

  // They point into this object.
  run::Trial connect_tcp() const;
  run::Trial bind_tcp() const;
  run::Trial connect_abstract() const;
  run::Trial connect_named() const;

 private:
  sys::UniqueFd tcp_ = {};
  sys::UniqueFd abstract_ = {};
  sys::UniqueFd named_ = {};
  sockaddr_in tcp_address_ = {};
  sockaddr_in any_port_ = {};
  sockaddr_un abstract_address_ = {};
  socklen_t abstract_length_ = 0;
  sockaddr_un named_address_ = {};
};

}  // namespace harn::prove
