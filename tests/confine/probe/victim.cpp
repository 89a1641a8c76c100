// SPDX-License-Identifier: Apache-2.0
// The process outside. It holds secrets, listens everywhere, and counts everything that reaches it;
// the verdict about what got out is its word, not the probe's. Says "key=value" lines about itself,
// then waits for the end of its input and says the counters.
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "probe.h"

namespace probe {
namespace {

char secret_memory[64] = "secret";
volatile sig_atomic_t signals_seen[NSIG] = {};

void count_signal(int number) { signals_seen[number] = signals_seen[number] + 1; }

struct Listener {
  std::string name = {};
  int fd = -1;
  bool stream = true;
  int arrived = 0;
};

class Victim {
 public:
  explicit Victim(Args words) {
    for (const auto& word : words) {
      const auto equals = word.find('=');
      settings_[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }

  int run() {
    for (const int number : {SIGUSR1, SIGURG, SIGIO}) ::signal(number, count_signal);
    const std::string directory = settings_["directory"];
    if (::chdir(directory.c_str()) != 0) return errno;
    tell("pid", std::to_string(::getpid()));
    char address[32];
    ::snprintf(address, sizeof address, "%lx", reinterpret_cast<unsigned long>(secret_memory));
    tell("address", address);
    tell("fd", std::to_string(::open("victim_secret", O_RDWR | O_CREAT, 0600)));
    listen_on_networks();
    listen_on_paths(directory);
    make_named_memory();
    ::dprintf(STDOUT_FILENO, "ready=1\n");
    serve();
    say_counters();
    remove_named_memory();
    return 0;
  }

 private:
  static void tell(const std::string& key, const std::string& value) { ::dprintf(STDOUT_FILENO, "%s=%s\n", key.c_str(), value.c_str()); }

  void listen_on_networks() {
    for (const std::string name : {"tcp", "tcp_other", "udp"}) {
      const bool stream = name != "udp";
      sockaddr_in address = {};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof address;
      const int fd = ::socket(AF_INET, stream ? SOCK_STREAM : SOCK_DGRAM, 0);
      ::bind(fd, reinterpret_cast<sockaddr*>(&address), size);
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
      add(name, fd, stream);
      tell(name, std::to_string(ntohs(address.sin_port)));
    }
  }

  void listen_on_paths(const std::string& directory) {
    const std::string abstract = "@harn-victim-" + std::to_string(::getpid());
    tell("abstract", abstract);
    add_path("stream", directory + "/stream.sock", SOCK_STREAM);
    add_path("dgram", directory + "/dgram.sock", SOCK_DGRAM);
    add_path("seqpacket", directory + "/seqpacket.sock", SOCK_SEQPACKET);
    add_path("abstract_stream", abstract + "-stream", SOCK_STREAM);
    add_path("abstract_dgram", abstract + "-dgram", SOCK_DGRAM);
    add_path("granted", settings_["shared"] + "/granted.sock", SOCK_STREAM);
  }

  void add_path(const std::string& name, const std::string& path, int type) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (path.starts_with('@')) address.sun_path[0] = '\0';
    const auto size = offsetof(sockaddr_un, sun_path) + path.size() + (path.starts_with('@') ? 0 : 1);
    const int fd = ::socket(AF_UNIX, type, 0);
    if (::bind(fd, reinterpret_cast<sockaddr*>(&address), static_cast<socklen_t>(size)) != 0) ::perror(path.c_str());
    add(name, fd, type != SOCK_DGRAM);
  }

  void add(const std::string& name, int fd, bool stream) {
    if (stream) ::listen(fd, 16);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    listeners_.push_back({name, fd, stream, 0});
  }

  void make_named_memory() {
    key_ = static_cast<key_t>(0x4a000000 | ::getpid());
    segment_ = ::shmget(key_, 4096, IPC_CREAT | 0600);
    semaphore_ = ::semget(key_, 1, IPC_CREAT | 0600);
    queue_ = ::msgget(key_, IPC_CREAT | 0600);
    name_ = "/harn-victim-" + std::to_string(::getpid());
    ::close(::shm_open(name_.c_str(), O_CREAT | O_RDWR, 0600));
    ::mq_close(::mq_open(name_.c_str(), O_CREAT | O_RDWR | O_NONBLOCK, 0600, nullptr));
    tell("key", std::to_string(key_));
    tell("segment", std::to_string(segment_));
    tell("semaphore", std::to_string(semaphore_));
    tell("queue", std::to_string(queue_));
    tell("name", name_);
  }

  void remove_named_memory() {
    ::shmctl(segment_, IPC_RMID, nullptr);
    ::semctl(semaphore_, 0, IPC_RMID);
    ::msgctl(queue_, IPC_RMID, nullptr);
    ::shm_unlink(name_.c_str());
    ::mq_unlink(name_.c_str());
  }

  void serve() {
    for (;;) {
      std::vector<pollfd> waiting = {{STDIN_FILENO, POLLIN, 0}};
      for (const auto& listener : listeners_) waiting.push_back({listener.fd, POLLIN, 0});
      if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
      for (std::size_t i = 0; i < listeners_.size(); ++i)
        if (waiting[i + 1].revents != 0) take(listeners_[i]);
      if (waiting[0].revents != 0) return;
    }
  }

  static void take(Listener& listener) {
    char byte = 0;
    for (;;) {
      const int got = listener.stream ? ::accept(listener.fd, nullptr, nullptr) : static_cast<int>(::recv(listener.fd, &byte, 1, 0));
      if (got < 0) return;
      ++listener.arrived;
      if (listener.stream) ::close(got);
    }
  }

  void say_counters() const {
    for (const auto& listener : listeners_) tell("count." + listener.name, std::to_string(listener.arrived));
    tell("count.usr1", std::to_string(signals_seen[SIGUSR1]));
    tell("count.urg", std::to_string(signals_seen[SIGURG]));
    tell("count.io", std::to_string(signals_seen[SIGIO]));
  }

  std::map<std::string, std::string> settings_ = {};
  std::vector<Listener> listeners_ = {};
  key_t key_ = 0;
  int segment_ = -1;
  int semaphore_ = -1;
  int queue_ = -1;
  std::string name_ = {};
};

}  // namespace

int be_victim(Args args) { return Victim(args).run(); }

}  // namespace probe
