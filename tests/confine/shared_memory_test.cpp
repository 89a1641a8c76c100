// SPDX-License-Identifier: Apache-2.0
// Named memory, semaphores and queues of the host are out of reach.
#include "confine/support/case.h"

namespace harn::confine {
namespace {

const Case cases[] = {
    {.id = "segment_by_key",
     .probe = "shmget",
     .args = {"{key}"},
     .view = "ENOENT",
     .bare = "EPERM",
     .critical = true,
     .only_lock = "view"},
    {.id = "segment_by_number",
     .probe = "shmat",
     .args = {"{segment}"},
     .view = "EINVAL",
     .bare = "EPERM",
     .critical = true,
     .only_lock = "view"},
    {.id = "segment_asked_about", .probe = "shmctl", .args = {"{segment}"}, .view = "EINVAL", .bare = "EPERM"},
    {.id = "semaphore_by_key", .probe = "semget", .args = {"{key}"}, .view = "ENOENT", .bare = "EPERM"},
    {.id = "semaphore_used", .probe = "semop", .args = {"{semaphore}"}, .view = "EINVAL", .bare = "EPERM"},
    {.id = "queue_by_key", .probe = "msgget", .args = {"{key}"}, .view = "ENOENT", .bare = "EPERM"},
    {.id = "queue_used", .probe = "msgsnd", .args = {"{queue}"}, .view = "EINVAL", .bare = "EPERM"},
    {.id = "posix_queue", .probe = "mq_open", .args = {"{name}"}, .view = "ENOENT", .bare = "EPERM"},
    {.id = "posix_memory", .probe = "shm_open", .args = {"{name}"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "posix_memory_removed", .probe = "shm_unlink", .args = {"{name}"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "posix_queue_removed", .probe = "mq_unlink", .args = {"{name}"}, .view = "ENOENT", .bare = "EACCES"},
};

const bool registered = promise({.name = "NoForeignSharedMemory", .cases = cases});

}  // namespace
}  // namespace harn::confine
