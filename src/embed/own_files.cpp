// SPDX-License-Identifier: Apache-2.0
#include "embed/own_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "host/resolve_paths.h"
#include "plan/route.h"

namespace harn::embed {
namespace {

// A place of such a file beneath something the command may write.
struct Exposed {
  OwnFile file = {};
  AbsPath place = {};                  // the file, or a link on the way to it
  const PathRule* writable = nullptr;  // the nearest rule that lets the command write
  const PathRule* closed = nullptr;    // the nearest rule beneath it that closes the place again
  bool exists = false;                 // something is there that a mount can stand on
};

void add_exposed(const PathRules& rules, const OwnFile& file, const AbsPath& place, std::vector<Exposed>& out) {
  Exposed here{.file = file, .place = place};
  for (const auto& rule : rules.rules()) {
    if (!rule.path.contains(place)) continue;
    if (rule.access == Access::write && rule.origin != Origin::device) {
      here.writable = &rule;
      here.closed = nullptr;
      here.exists = false;
    } else {
      here.closed = &rule;
      here.exists = here.exists || rule.kind != PathKind::missing;
    }
  }
  if (here.writable != nullptr) out.push_back(std::move(here));
}

// A link can be replaced where it stands, wherever it leads; and nothing need exist at its end yet.
Result<std::vector<Exposed>> exposed_places(const PathRules& rules, const std::vector<OwnFile>& files) {
  std::vector<Exposed> out;
  for (const auto& file : files) {
    HARN_TRY(way, host::way_to(file.path));
    for (const auto& link : way.links) add_exposed(rules, file, link, out);
    add_exposed(rules, file, way.end, out);
  }
  return out;
}

// Landlock alone can take nothing away inside what it grants; mounts and a supervisor can.
bool something_holds(const Decided& decided) {
  const auto backend = decided.options.backend.value_or(Backend::linux);
  const auto& linux = decided.facts.linux;
  const bool supervised = linux.landlock_abi >= 1 && linux.seccomp && linux.seccomp_notify;
  return backend != Backend::linux || linux.user_namespaces || supervised;
}

std::unexpected<Error> refuse(const Exposed& at, std::string_view why, std::string hint) {
  const auto led = at.place == at.file.path ? std::string() : fmt::format(" leads to {}, which", base::quoted(at.place.text()));
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::compose,
                    .message = fmt::format("the command could change its own rules: {}{} lies in writable {}{}",
                                           base::quoted(at.file.path.text()), led, base::quoted(at.writable->path.text()), why),
                    .hint = std::move(hint)});
}

std::string hint_for_open(const Exposed& at) {
  if (at.file.named)
    return at.place == at.file.path ? fmt::format("move it out of there, or add --read {}", base::shell_word(at.place.text()))
                                    : "name the file itself, outside of what the command may write";
  const auto directory = base::shell_word(at.place.parent().text());
  if (host::look_at(at.place.parent()).kind != PathKind::missing) return fmt::format("add --deny {}", directory);
  return fmt::format("run 'mkdir -p {}' first and add --deny {}", directory, directory);
}

// Every absent place at once, so that nobody has to try again for each.
std::string hint_for_absent(const std::vector<Exposed>& places) {
  std::vector<std::string> words;
  for (const auto& at : places) {
    if (at.exists) continue;
    auto word = base::shell_word(at.closed->path.text());
    if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
  }
  return fmt::format("run 'mkdir -p {}' first, or let the command write less", base::join(words, " "));
}

}  // namespace

std::vector<OwnFile> own_files(const Environment& environment) {
  std::vector<OwnFile> files;
  for (auto& path : {user_config_file(environment), trust_file(environment), facts_directory(environment).join("facts"),
                     audit_directory(environment).join("anchor"), ceiling_file()})
    files.push_back({.path = path});
  return files;
}

bool can_close(const Decided& decided) {
  return plan::route_of(decided.policy, decided.options) == Route::direct || something_holds(decided);
}

Status check_own_files(const std::vector<OwnFile>& files, const Decided& decided) {
  // What nothing confines can change everything, and is told so.
  if (plan::route_of(decided.policy, decided.options) == Route::direct) return {};
  HARN_TRY(places, exposed_places(decided.rules, files));
  for (const auto& at : places)
    if (at.closed == nullptr) return refuse(at, "", hint_for_open(at));
  for (const auto& at : places) {
    if (!at.exists)
      return refuse(at, fmt::format(", and nothing can hold {} closed before it exists", base::quoted(at.closed->path.text())),
                    hint_for_absent(places));
    if (!something_holds(decided))
      return refuse(at, fmt::format(", and nothing on this host holds {} closed inside it", base::quoted(at.closed->path.text())),
                    "let the command write less, or let this user create user namespaces");
  }
  return {};
}

}  // namespace harn::embed
