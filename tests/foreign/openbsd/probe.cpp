// SPDX-License-Identifier: Apache-2.0
// A program of OpenBSD that uses the two calls itself, inside and outside of somebody else's: one act per call.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "foreign/openbsd/calls.h"

namespace {

int told(const char* what, int result) {
  std::printf("%s %s\n", what, result >= 0 ? "ok" : strerrorname_np(errno));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  for (int i = 1; i < argc; ++i) {
    const std::string act = argv[i];
    const char* word = i + 1 < argc ? argv[i + 1] : "";
    if (act == "unveil" && i + 2 < argc) told("unveil", unveil(word, argv[i + 2])), i += 2;
    else if (act == "lock") told("lock", unveil(nullptr, nullptr));
    else if (act == "pledge") told("pledge", pledge(word, nullptr)), ++i;
    else if (act == "pledge-exec" && i + 2 < argc) told("pledge-exec", pledge(word, argv[i + 2])), i += 2;
    else if (act == "read") told("read", ::open(word, O_RDONLY)), ++i;
    else if (act == "write") told("write", ::open(word, O_WRONLY)), ++i;
    else if (act == "create") told("create", ::open(word, O_WRONLY | O_CREAT, 0600)), ++i;
    else if (act == "remove") told("remove", ::unlink(word)), ++i;
    else if (act == "look") told("look", ::access(word, F_OK)), ++i;
    else if (act == "inet") told("inet", ::socket(AF_INET, SOCK_STREAM, 0));
    else if (act == "inet6") told("inet6", ::socket(AF_INET6, SOCK_DGRAM, 0));
    else if (act == "unix") told("unix", ::socket(AF_UNIX, SOCK_STREAM, 0));
    else if (act == "exec") return ::execv(word, argv + i + 1), told("exec", -1);
    else return std::printf("unknown act %s\n", act.c_str()), 2;
  }
  return 0;
}
