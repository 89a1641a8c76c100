// SPDX-License-Identifier: Apache-2.0
// A command that holds the caller's terminal cannot type into it, and other terminals are not there.
#include <pty.h>
#include <unistd.h>

#include "confine/support/stand.h"

namespace harn::confine {
namespace {

Extras terminals(Scene& scene) {
  Extras extras;
  for (const bool ours : {true, false}) {
    int master = -1;
    int slave = -1;
    char name[64] = {};
    if (::openpty(&master, &slave, name, nullptr, nullptr) != 0) return extras;
    if (::fchown(slave, scene.uid(), scene.uid()) != 0) return extras;
    extras.add(master);
    extras.add(slave);
    if (ours) extras.terminal = slave;
    else scene.note("other_terminal", name);
  }
  return extras;
}

const Case cases[] = {
    {.id = "type", .probe = "tiocsti", .view = "EPERM", .bare = "EPERM"},
    {.id = "type_disguised", .probe = "tiocsti_disguised", .view = "EPERM", .bare = "EPERM"},
    {.id = "type_by_name", .probe = "tiocsti_by_name", .view = "EPERM", .bare = "EPERM", .container = "ENXIO"},
    {.id = "console", .probe = "tioclinux", .view = "EPERM", .bare = "EPERM", .why = "ENOTTY counts: only a console can do it"},
    {.id = "line_discipline", .probe = "tiocsetd", .view = "EPERM", .bare = "EPERM"},
    {.id = "other_terminal", .probe = "terminal_write", .args = {"{other_terminal}"}, .view = "ENOENT", .bare = "EACCES"},
};

const bool registered = promise({.name = "CannotTypeIntoTerminals", .cases = cases, .extras = terminals});

}  // namespace
}  // namespace harn::confine
