// SPDX-License-Identifier: Apache-2.0
// No moment between a look and a use lets a command out: names are changed as fast as possible while
// they are used.
#include "confine/support/case.h"

namespace harn::confine {
namespace {

const Case cases[] = {
    {.id = "directory_for_link",
     .probe = "race_directory_for_link",
     .args = {"{work}/bin/r1", "{own}"},
     .view = "ENOENT",
     .bare = "EACCES",
     .critical = true},
    {.id = "file_for_link",
     .probe = "race_file_for_link",
     .args = {"{work}/bin/r2", "{own}"},
     .view = "ENOENT",
     .bare = "EACCES",
     .critical = true},
    {.id = "write", .probe = "race_write", .args = {"{work}/bin/r3", "{own}"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "climb",
     .probe = "race_climb",
     .args = {"{work}/bin/r4", "outside/climb/secret"},
     .view = "ENOENT",
     .bare = "EACCES",
     .critical = true},
    {.id = "hard_link", .probe = "race_hard_link", .args = {"{work}/bin/r5", "{own}"}, .view = "ENOENT", .bare = "EACCES EXDEV"},
    {.id = "denied_swapped_away",
     .probe = "race_swap_away",
     .args = {"{work}/deep/denied", "{work}/deep/free"},
     .view = "EBUSY EXDEV",
     .bare = "EACCES",
     .gap = "reads/nested_deny"},
    {.id = "settings_replaced",
     .probe = "race_replace",
     .args = {"{work}/harn.toml"},
     .view = "EBUSY",
     .bare = "EACCES",
     .gap = "writes/nested_read_only"},
};

const bool registered = promise({.name = "NoRaceLeadsOut", .cases = cases});

}  // namespace
}  // namespace harn::confine
