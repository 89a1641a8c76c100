// SPDX-License-Identifier: Apache-2.0
// What the host later executes or trusts stays as it is, although the workspace around it is writable.
// A name that does not exist yet can come into being; then the receipt says so.
#include "confine/support/case.h"

namespace harn::confine {
namespace {

constexpr auto kept = "writes/nested_read_only";
constexpr auto absent = "writes/absent_protected_name";

const Case cases[] = {
    {.id = "settings_written", .probe = "open_write", .args = {"{work}/harn.toml"}, .view = "EROFS", .gap = kept},
    {.id = "settings_truncated", .probe = "truncate", .args = {"{work}/harn.toml"}, .view = "EROFS", .gap = kept},
    {.id = "settings_by_hard_link",
     .probe = "write_through_hard_link",
     .args = {"{work}/harn.toml", "{work}/bin/hard"},
     .view = "EXDEV",
     .gap = kept},
    {.id = "settings_by_link",
     .probe = "write_through_link",
     .args = {"{work}/harn.toml", "{work}/bin/soft"},
     .view = "EROFS",
     .gap = kept},
    {.id = "settings_exchanged", .probe = "exchange", .args = {"{work}/harn.toml", "{work}/file"}, .view = "EBUSY EXDEV", .gap = kept},
    {.id = "settings_replaced",
     .probe = "rename",
     .args = {"{work}/file", "{work}/harn.toml"},
     .view = "EBUSY EXDEV",
     .gap = kept,
     .gap_path = "{work}/harn.toml"},
    {.id = "settings_moved", .probe = "rename", .args = {"{work}/harn.toml", "{work}/bin/settings"}, .view = "EBUSY EXDEV", .gap = kept},
    {.id = "repository_settings_written", .probe = "open_write", .args = {"{work}/.git/config"}, .view = "EROFS", .gap = kept},
    {.id = "repository_settings_removed", .probe = "unlink", .args = {"{work}/.git/config"}, .view = "EBUSY", .gap = kept},
    {.id = "hook_written", .probe = "open_write", .args = {"{work}/.git/hooks/pre-commit"}, .view = "EROFS", .gap = kept},
    {.id = "hook_made", .probe = "create", .args = {"{work}/.git/hooks/post-checkout"}, .view = "EROFS", .gap = kept},
    {.id = "hook_linked",
     .probe = "link",
     .args = {"{work}/deep/open", "{work}/.git/hooks/pre-push"},
     .view = "EROFS EXDEV",
     .gap = kept,
     .gap_path = "{work}/.git/hooks"},
    {.id = "hook_removed", .probe = "unlink", .args = {"{work}/.git/hooks/pre-commit"}, .view = "EROFS", .gap = kept},
    {.id = "hooks_moved", .probe = "rename", .args = {"{work}/.git/hooks", "{work}/bin/hooks"}, .view = "EBUSY EXDEV", .gap = kept},
    {.id = "repository_replaced",
     .probe = "replace_parent",
     .args = {"{work}/.git", "{work}/bin/git", "{work}/.git/config"},
     .view = "EBUSY EXDEV",
     .gap = kept,
     .gap_path = "{work}/.git/config"},
    {.id = "editor_settings_written", .probe = "open_write", .args = {"{work}/.vscode/settings.json"}, .view = "EROFS", .gap = kept},
    {.id = "editor_task_made", .probe = "create", .args = {"{work}/.vscode/tasks.json"}, .view = "EROFS", .gap = kept},
    {.id = "editor_settings_moved", .probe = "rename", .args = {"{work}/.vscode", "{work}/bin/vscode"}, .view = "EBUSY EXDEV", .gap = kept},
    {.id = "shell_file_made", .probe = "create", .args = {"{work}/.envrc"}, .gap = absent, .view_gap = absent},
    {.id = "agent_file_made", .probe = "create", .args = {"{work}/.mcp.json"}, .gap = absent, .view_gap = absent},
    {.id = "agent_directory_made", .probe = "mkdir", .args = {"{work}/.claude"}, .gap = absent, .view_gap = absent},
    {.id = "submodules_made", .probe = "create", .args = {"{work}/.gitmodules"}, .gap = absent, .view_gap = absent},
    {.id = "protected_link_made",
     .probe = "symlink",
     .args = {"bin", "{work}/.codex"},
     .gap = absent,
     .view_gap = absent,
     .gap_path = "{work}/.codex"},
};

const bool registered = promise({.name = "ProtectedNamesStay", .cases = cases});

}  // namespace
}  // namespace harn::confine
