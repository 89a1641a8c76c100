// SPDX-License-Identifier: Apache-2.0
// harn diff, apply, discard: what commands run with --overlay made of the workspace.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/load.h"
#include "cli/prepare.h"
#include "cli/verbs.h"
#include "embed/ready.h"
#include "files/git_names.h"
#include "harn/policy_text.h"
#include "harn/probe.h"
#include "session/overlay.h"
#include "workspace/patch.h"
#include "workspace/pending.h"
#include "workspace/renames.h"

namespace harn::cli {
namespace {

using workspace::Kind;
using Found = workspace::Pending::Found;

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::added: return "added";
    case Kind::modified: return "modified";
    case Kind::mode: return "mode";
    case Kind::replaced: return "replaced";
    case Kind::deleted: return "deleted";
  }
  return "?";
}

// What is listed: a change with its place on the host.
struct Listed {
  Found found = {};
  AbsPath path = {};
  bool is_protected = false;
  AbsPath renamed_from = {};  // the root of all: it was not
  AbsPath renamed_to = {};
};

// Changes that wait, and who decides about names in them.
struct Held {
  std::optional<workspace::Pending> pending = {};
  bool in_use = false;         // somebody still looks through the layers
  sys::UniqueFd session = {};  // nobody else changes the session meanwhile
  std::optional<session::Record> record = {};
};

Result<Held> pending_here(const Arguments& arguments, const Caller& caller) {
  Held out;
  const auto* id = arguments.value("session");
  if (id == nullptr) {
    HARN_TRY(pending, workspace::Pending::open(workspace::place_of(state_directory(caller), find_project_root(caller.cwd))));
    out.pending = std::move(pending);
    return out;
  }
  const auto places = session::places_for(caller.environment);
  const auto worded = [](const SandboxError& error) {
    return fail(Error{.code = ErrorCode::not_available, .stage = Stage::load, .message = describe(error), .hint = error.hint});
  };
  auto record = session::load(places, *id);
  if (!record) return worded(record.error());
  auto waiting = session::waiting_of(places, *record);
  if (!waiting) return worded(waiting.error());
  out.pending = std::move(waiting->pending);
  out.in_use = waiting->in_use;
  out.session = std::move(waiting->lock);
  out.record = std::move(*record);
  return out;
}

// The policy whose commands made the changes.
Result<PathRules> rules_for(const Held& held, const Arguments& arguments, const Caller& caller) {
  if (!held.record) {
    HARN_TRY(prepared, prepare(arguments, caller));
    return std::move(prepared.rules);
  }
  HARN_TRY(facts, proved_facts(caller, /*confining=*/false));
  HARN_TRY(policy, parse_policy_json(held.record->policy, {.home = facts.home}));
  return embed::look_at_host(facts, policy, caller.environment).rules;
}

// What the policy closes to commands, and what git outside would run or follow: also in a repository that a command made.
void mark_protected(const PathRules& rules, std::vector<Listed>& all) {
  std::vector<AbsPath> made;
  for (auto& listed : all) {
    const auto& path = listed.path;
    const bool repository = path.name() == ".git" && listed.found.change.kind != Kind::deleted && listed.found.change.kind != Kind::mode;
    if (repository) made.push_back(path);
    const bool inside = std::ranges::any_of(made, [&](const AbsPath& around) { return around.contains(path); });
    listed.is_protected = inside || !rules.decide(path, FileOp::write).allowed || files::is_trusted_by_git(path);
  }
}

Status mark_renamed(const workspace::Pending& pending, std::vector<Listed>& all) {
  for (std::size_t i = 0; i < pending.layers().size(); ++i) {
    std::vector<workspace::Change> here;
    for (const auto& listed : all)
      if (listed.found.layer == i) here.push_back(listed.found.change);
    HARN_TRY(renames, workspace::find_renames(pending.layers()[i], here));
    for (const auto& [now, before] : renames)
      for (auto& listed : all) {
        if (listed.found.layer != i) continue;
        if (listed.found.change.path == now && listed.found.change.kind == Kind::added)
          listed.renamed_from = pending.layers()[i].root.join(before);
        if (listed.found.change.path == before && listed.found.change.kind == Kind::deleted)
          listed.renamed_to = pending.layers()[i].root.join(now);
      }
  }
  return {};
}

// Of all changes those at or beneath the operands; one that names nothing is an error.
Result<std::vector<Listed>> chosen(const workspace::Pending& pending, const Arguments& arguments, const Caller& caller,
                                   const PathRules& rules) {
  std::vector<AbsPath> wanted;
  for (const auto& operand : arguments.operands()) {
    HARN_TRY(path, path_argument(operand, path_context(caller)));
    wanted.push_back(std::move(path));
  }
  HARN_TRY(changes, pending.changes());
  std::vector<bool> used(wanted.size());
  std::vector<Listed> out;
  for (auto& found : changes) {
    auto path = pending.layers()[found.layer].root.join(found.change.path);
    bool take = wanted.empty();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      // A directory that is new or gone goes with what is asked for inside it.
      const bool around = path.contains(wanted[i]) && found.change.kind == Kind::added;
      if (!wanted[i].contains(path) && !around) continue;
      take = true;
      used[i] = used[i] || !around || path == wanted[i];
    }
    if (!take) continue;
    out.push_back({.found = std::move(found), .path = std::move(path)});
  }
  mark_protected(rules, out);
  HARN_OK(mark_renamed(pending, out));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!used[i]) return wrong_usage(fmt::format("no change waits at {}", base::quoted(wanted[i].text())), "'harn diff --stat' lists them");
  return out;
}

std::string shown(const AbsPath& path, const AbsPath& cwd) {
  const auto& text = path.text();
  if (cwd.contains(path) && path != cwd && !cwd.is_root()) return text.substr(cwd.text().size() + 1);
  return text;
}

std::string line_of(const Listed& listed, const AbsPath& cwd) {
  auto out = fmt::format("{:<9} {}", name_of(listed.found.change.kind), base::one_line(shown(listed.path, cwd)));
  if (listed.found.change.after.is_directory() || listed.found.change.before.is_directory()) out += "/";
  if (!listed.renamed_from.is_root()) out += fmt::format("  (was {})", base::one_line(shown(listed.renamed_from, cwd)));
  if (!listed.renamed_to.is_root()) out += fmt::format("  (now {})", base::one_line(shown(listed.renamed_to, cwd)));
  if (listed.is_protected) out += "  (protected)";
  if (!listed.found.change.conflict.empty()) out += fmt::format("  (conflict: {})", listed.found.change.conflict);
  return out + "\n";
}

base::Value value_of(const Listed& listed) {
  const auto& change = listed.found.change;
  base::Value out;
  out.set("path", listed.path.text());
  out.set("change", std::string(name_of(change.kind)));
  if (change.before.exists()) out.set("mode_before", fmt::format("{:06o}", change.before.mode));
  if (change.after.exists()) out.set("mode_after", fmt::format("{:06o}", change.after.mode));
  if (change.after.is_file()) out.set("bytes", change.after.size);
  if (!listed.renamed_from.is_root()) out.set("renamed_from", listed.renamed_from.text());
  if (!listed.renamed_to.is_root()) out.set("renamed_to", listed.renamed_to.text());
  if (listed.is_protected) out.set("protected", true);
  if (!change.conflict.empty()) out.set("conflict", change.conflict);
  return out;
}

base::Value values_of(const std::vector<Listed>& all) {
  base::Array out;
  for (const auto& listed : all) out.push_back(value_of(listed));
  return out;
}

// The content is a command's own; it must not drive the terminal it is shown on.
std::string for_reader(const std::string& patch, const Caller& caller) {
  if (!caller.terminal) return patch;
  std::string out;
  for (const auto line : base::split(patch, '\n')) (out += base::one_line(line)) += '\n';
  out.pop_back();
  return out;
}

std::string json_text(const base::Value& value) { return base::print_json(value, 2) + "\n"; }

std::unexpected<Error> nothing_waits() {
  return wrong_usage("no changes wait in this project", "'harn run --overlay -- CMD' keeps them apart");
}

}  // namespace

Result<Reply> diff_verb(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(held, pending_here(arguments, caller));
  const auto& pending = held.pending;
  if (!pending && !arguments.operands().empty()) return nothing_waits();
  std::vector<Listed> all;
  if (pending) {
    HARN_TRY(rules, rules_for(held, arguments, caller));
    HARN_TRY(found, chosen(*pending, arguments, caller, rules));
    all = std::move(found);
  }
  Reply reply;
  if (arguments.has("json")) {
    base::Value out;
    out.set("changes", values_of(all));
    reply.out = json_text(out);
    return reply;
  }
  for (const auto& listed : all) {
    if (arguments.has("stat")) {
      reply.out += line_of(listed, caller.cwd);
      continue;
    }
    if (!listed.renamed_to.is_root()) continue;  // told with its new name
    if (!listed.renamed_from.is_root()) {
      reply.out += for_reader(
          workspace::rename_text(base::one_line(shown(listed.renamed_from, caller.cwd)), base::one_line(shown(listed.path, caller.cwd))),
          caller);
      continue;
    }
    const auto& layer = pending->layers()[listed.found.layer];
    HARN_TRY(patch, workspace::patch_of(layer, listed.found.change, base::one_line(shown(listed.path, caller.cwd))));
    reply.out += for_reader(patch, caller);
    if (!listed.found.change.conflict.empty() || listed.is_protected) reply.err += line_of(listed, caller.cwd);
  }
  return reply;
}

Result<Reply> apply_verb(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(held, pending_here(arguments, caller));
  auto& pending = held.pending;
  if (!pending) return nothing_waits();
  HARN_TRY(rules, rules_for(held, arguments, caller));
  HARN_TRY(all, chosen(*pending, arguments, caller, rules));
  std::vector<Listed> left;
  std::vector<Found> taken;
  Reply reply;
  for (auto& listed : all) {
    if (listed.is_protected && !arguments.has("protected")) {
      left.push_back(std::move(listed));
      continue;
    }
    if (listed.found.change.kind == Kind::deleted && !arguments.has("json")) reply.out += line_of(listed, caller.cwd);
    taken.push_back(listed.found);
  }
  HARN_TRY(done, pending->apply(std::move(taken), held.in_use));
  for (auto& found : done.left) {
    auto path = pending->layers()[found.layer].root.join(found.change.path);
    left.push_back({.found = std::move(found), .path = std::move(path)});
  }
  if (!held.in_use) {
    HARN_TRY(over, pending->is_empty());
    if (over) HARN_OK(pending->discard());
  }
  reply.exit_code = left.empty() ? 0 : exit_no;
  if (arguments.has("json")) {
    base::Value out;
    out.set("applied", static_cast<std::uint64_t>(done.done));
    out.set("left", values_of(left));
    reply.out = json_text(out);
    return reply;
  }
  reply.out += fmt::format("applied {}, left {}\n", done.done, left.size());
  for (const auto& listed : left) reply.err += line_of(listed, caller.cwd);
  const bool closed = std::ranges::any_of(left, &Listed::is_protected);
  if (closed) reply.err += "harn: protected names decide what runs outside later: look at them, then 'harn apply --protected'\n";
  return reply;
}

Result<Reply> discard_verb(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(held, pending_here(arguments, caller));
  auto& pending = held.pending;
  if (held.in_use)
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::load,
                      .message = fmt::format("commands of {} still see these changes", base::quoted(held.record->id)),
                      .hint = fmt::format("'harn session terminate --discard {}' ends it and forgets them", held.record->id)});
  std::size_t count = 0;
  if (pending) {
    if (const auto changes = pending->changes()) count = changes->size();
    HARN_OK(pending->discard());
  }
  base::Value out;
  out.set("discarded", static_cast<std::uint64_t>(count));
  return Reply{.out = arguments.has("json") ? json_text(out) : fmt::format("discarded {} change{}\n", count, count == 1 ? "" : "s")};
}

}  // namespace harn::cli
