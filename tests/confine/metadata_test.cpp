// SPDX-License-Identifier: Apache-2.0
// A command cannot learn about or change modes, owners, times and attributes outside its grants. Only
// the view can do that: Landlock does not look at these calls.
#include "confine/support/case.h"

namespace harn::confine {
namespace {

constexpr auto outside = "metadata/metadata_outside";
constexpr auto visible = "metadata/metadata_visible";

const Case cases[] = {
    {.id = "stat", .probe = "stat", .args = {"{own}/secret"}, .view = "ENOENT", .gap = visible},
    {.id = "statx", .probe = "statx", .args = {"{own}/secret"}, .view = "ENOENT", .gap = visible},
    {.id = "access", .probe = "access", .args = {"{own}/secret"}, .view = "ENOENT", .gap = visible},
    {.id = "readlink", .probe = "readlink", .args = {"{own}/link"}, .view = "ENOENT", .gap = visible},
    {.id = "getxattr", .probe = "getxattr", .args = {"{own}/secret", "user.harn.planted"}, .view = "ENOENT", .gap = visible},
    {.id = "chdir", .probe = "chdir", .args = {"{own}"}, .view = "ENOENT", .gap = visible},
    {.id = "watch", .probe = "watch", .args = {"{own}"}, .view = "ENOENT", .gap = visible},
    {.id = "stat_keys", .probe = "stat", .args = {"{home}/.ssh/id_rsa"}, .view = "ENOENT", .gap = visible},
    {.id = "stat_denied", .probe = "stat", .args = {"{work}/deep/denied/secret"}, .view = "EACCES", .container = "ENOENT", .gap = visible},
    {.id = "denied_chmod", .probe = "chmod", .args = {"{work}/deep/denied"}, .view = "EROFS", .bare = "EACCES", .gap = outside},
    {.id = "chmod", .probe = "chmod", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .gap = outside},
    {.id = "fchmodat", .probe = "fchmodat", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .gap = outside},
    {.id = "fchmodat2", .probe = "fchmodat2", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .gap = outside},
    {.id = "chmod_by_descriptor",
     .probe = "chmod_by_descriptor",
     .args = {"{own}/secret"},
     .view = "ENOENT",
     .bare = "EACCES",
     .gap = outside},
    {.id = "chown", .probe = "chown", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .gap = outside},
    {.id = "lchown", .probe = "lchown", .args = {"{own}/link"}, .view = "ENOENT", .bare = "EACCES", .gap = outside},
    {.id = "utimensat", .probe = "utimensat", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .gap = outside},
    {.id = "utimensat_link", .probe = "utimensat_link", .args = {"{own}/link"}, .view = "ENOENT", .bare = "EACCES", .gap = outside},
    {.id = "utimes", .probe = "utimes", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .gap = outside},
    {.id = "setxattr", .probe = "setxattr", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .gap = outside},
    {.id = "removexattr", .probe = "removexattr", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .gap = outside},
    {.id = "set_flags", .probe = "set_flags", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "read_only_chmod", .probe = "chmod", .args = {"{shared}/file"}, .view = "EROFS", .bare = "EACCES", .gap = outside},
    {.id = "read_only_fchmod", .probe = "fchmod_reading", .args = {"{shared}/file"}, .view = "EROFS", .bare = "EACCES", .gap = outside},
    {.id = "read_only_futimens", .probe = "futimens_reading", .args = {"{shared}/file"}, .view = "EROFS", .bare = "EACCES", .gap = outside},
    {.id = "read_only_chown", .probe = "chown", .args = {"{shared}/file"}, .view = "EROFS", .bare = "EACCES", .gap = outside},
    {.id = "read_only_setxattr", .probe = "setxattr", .args = {"{shared}/file"}, .view = "EROFS", .bare = "EACCES", .gap = outside},
    {.id = "read_only_removexattr", .probe = "removexattr", .args = {"{shared}/file"}, .view = "EROFS", .bare = "EACCES", .gap = outside},
    {.id = "read_only_set_flags", .probe = "set_flags", .args = {"{shared}/file"}, .view = "EROFS", .bare = "EACCES", .gap = outside},
    {.id = "protected_chmod", .probe = "chmod", .args = {"{work}/harn.toml"}, .view = "EROFS", .bare = "EACCES", .gap = outside},
};

const bool registered = promise({.name = "CannotTouchMetadata", .cases = cases});

}  // namespace
}  // namespace harn::confine
