// SPDX-License-Identifier: Apache-2.0
// A value over a socket with descriptors beside it, for programs without libc.
#pragma once

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "run/child/raw_syscall.h"

namespace harn::run::init {

template <class T, unsigned most>
struct Parcel {
  T value = {};
  int fds[most] = {};
  unsigned count = 0;
  bool cut = false;  // more descriptors came than there is room for
};

template <class T, unsigned most>
child::Word send_parcel(int socket, Parcel<T, most>& parcel, int flags) {
  iovec text = {.iov_base = &parcel.value, .iov_len = sizeof parcel.value};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof parcel.fds)] = {};
  msghdr message = {};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(parcel.count * sizeof(int));
  auto* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(parcel.count * sizeof(int));
  __builtin_memcpy(CMSG_DATA(head), parcel.fds, parcel.count * sizeof(int));
  return child::raw_syscall(SYS_sendmsg, socket, child::word_of(&message), flags);
}

// What recvmsg() answers. Descriptors that came are the caller's, whatever else is wrong; they are closed on exec.
template <class T, unsigned most>
child::Word receive_parcel(int socket, Parcel<T, most>& parcel, int flags) {
  iovec text = {.iov_base = &parcel.value, .iov_len = sizeof parcel.value};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof parcel.fds)] = {};
  msghdr message = {};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const child::Word got = child::raw_syscall(SYS_recvmsg, socket, child::word_of(&message), flags | MSG_CMSG_CLOEXEC);
  if (got < 0) return got;
  parcel.cut = (message.msg_flags & MSG_CTRUNC) != 0;
  const auto* head = CMSG_FIRSTHDR(&message);
  if (head == nullptr || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) return got;
  parcel.count = static_cast<unsigned>((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  __builtin_memcpy(parcel.fds, CMSG_DATA(head), parcel.count * sizeof(int));
  return got;
}

}  // namespace harn::run::init
