// SPDX-License-Identifier: Apache-2.0
// Memory, semaphores and queues that have names without being files.
#include <fcntl.h>
#include <mqueue.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include "probe.h"

namespace probe {
namespace {

int number(const std::string& text) { return static_cast<int>(::strtol(text.c_str(), nullptr, 10)); }

int get_segment(Args args) { return verdict(::shmget(number(args[0]), 0, 0)); }
int attach_segment(Args args) { return ::shmat(number(args[0]), nullptr, 0) == reinterpret_cast<void*>(-1) ? errno : 0; }

int stat_segment(Args args) {
  shmid_ds seen = {};
  return verdict(::shmctl(number(args[0]), IPC_STAT, &seen));
}

int get_semaphore(Args args) { return verdict(::semget(number(args[0]), 0, 0)); }

int use_semaphore(Args args) {
  sembuf up = {.sem_num = 0, .sem_op = 1, .sem_flg = IPC_NOWAIT};
  return verdict(::semop(number(args[0]), &up, 1));
}

int get_queue(Args args) { return verdict(::msgget(number(args[0]), 0)); }

int send_message(Args args) {
  struct {
    long type = 1;
    char text[8] = "x";
  } message;
  return verdict(::msgsnd(number(args[0]), &message, sizeof message.text, IPC_NOWAIT));
}

int open_queue(Args args) { return verdict(::mq_open(args[0].c_str(), O_RDWR)); }
int remove_queue(Args args) { return verdict(::mq_unlink(args[0].c_str())); }
int open_shared(Args args) { return verdict(::shm_open(args[0].c_str(), O_RDWR, 0)); }
int remove_shared(Args args) { return verdict(::shm_unlink(args[0].c_str())); }

constexpr Probe table[] = {
    {"shmget", get_segment},     {"shmat", attach_segment}, {"shmctl", stat_segment},      {"semget", get_semaphore},
    {"semop", use_semaphore},    {"msgget", get_queue},     {"msgsnd", send_message},      {"mq_open", open_queue},
    {"mq_unlink", remove_queue}, {"shm_open", open_shared}, {"shm_unlink", remove_shared},
};

}  // namespace

Probes shared_memory() { return table; }

}  // namespace probe
