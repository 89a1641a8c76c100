// SPDX-License-Identifier: Apache-2.0
#include "confine/support/stand.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "confine/support/tools.h"
#include "harn/path.h"
#include "harn/probe.h"

namespace harn::confine {
namespace {

constexpr uid_t nobody = 65534;

std::string_view less_word(Way way) {
  switch (way) {
    case Way::without_view: return "view";
    case Way::without_landlock: return "landlock";
    case Way::without_seccomp: return "seccomp";
    default: return {};
  }
}

// What the operator grants in every scene: a workspace with a read-only and a denied place in it,
// and two places to read.
std::vector<std::string> harn_words(const Stand& stand, const Scene& scene, const std::string& receipt) {
  const auto work = scene.path("work");
  return {"run",
          "--backend",
          stand.way == Way::bubblewrap ? "bubblewrap" : "linux",
          "--read",
          scene.path("tools"),
          "--read",
          scene.path("shared"),
          "--write",
          work,
          "--read",
          work + "/fixed",
          "--deny",
          work + "/deep/denied",
          "--receipt",
          receipt,
          "--"};
}

std::vector<std::string> words_for(const Stand& stand, const Scene& scene, const std::string& receipt, const std::string& list) {
  const auto tools = scene.path("tools");
  std::vector<std::string> words;
  const auto wrap = [&](const std::string& file) {
    words.push_back(tools + "/harn");
    const auto more = harn_words(stand, scene, file);
    words.insert(words.end(), more.begin(), more.end());
  };
  if (const auto less = less_word(stand.way); !less.empty()) {
    words = {tools + "/harn_less", std::string(less)};
    const auto more = harn_words(stand, scene, receipt);
    words.insert(words.end(), more.begin(), more.end());
  } else if (stand.way == Way::nested) {
    wrap(receipt);
    wrap(scene.path("work") + "/inner-receipt");
  } else if (stand.way != Way::unconfined) {
    wrap(receipt);
  }
  words.insert(words.end(), {tools + "/harn_probe", "--cases", list});
  return words;
}

std::string write_list(const Scene& scene, std::span<const Case> cases) {
  const auto file = scene.path("work") + "/cases";
  std::ofstream list(file);
  for (const auto& row : cases) {
    list << row.id << '\t' << row.probe;
    for (const auto& arg : row.args) list << '\t' << scene.fill(arg, row.id);
    list << '\n';
  }
  return file;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string Stand::name() const {
  static constexpr std::string_view names[] = {"SucceedsUnconfined",         "RefusedWithTheView",      "RefusedWithoutUserNamespaces",
                                               "RefusedOrNamedUnsupervised", "RefusedNested",           "RefusedByBubblewrap",
                                               "TwoLocksWithoutTheView",     "TwoLocksWithoutLandlock", "TwoLocksWithoutSeccomp"};
  return fmt::format("{}As{}", names[static_cast<std::size_t>(way)], uid == 0 ? "Root" : "User");
}

std::vector<Stand> stands() {
  std::vector<uid_t> callers = {::getuid()};
  if (callers.front() == 0) callers.push_back(nobody);
  std::vector<Stand> out;
  for (const auto uid : callers)
    for (const auto way : {Way::unconfined, Way::view, Way::bare, Way::unsupervised, Way::nested, Way::bubblewrap, Way::without_view,
                           Way::without_landlock, Way::without_seccomp})
      out.push_back({way, uid});
  return out;
}

std::string missing_here(Way way) {
  const auto facts = probe_host({.environment = {}, .cwd = AbsPath::of("/")});
  if (facts.linux.landlock_abi < 6) return fmt::format("landlock: ABI {} is below 6", facts.linux.landlock_abi);
  if (!facts.linux.seccomp) return "seccomp: not in this kernel";
  if (!facts.linux.user_namespaces && way != Way::bare && way != Way::unsupervised && way != Way::unconfined)
    return "userns: " + facts.linux.why_no_user_namespaces;
  if (way == Way::bubblewrap && !facts.tools.contains("bubblewrap")) return "bubblewrap: not installed";
  return {};
}

Told run_cases(const Stand& stand, const Scene& scene, std::span<const Case> cases, const Extras& extras) {
  const auto list = write_list(scene, cases);
  const auto receipt = scene.path("run") + "/receipt.json";
  auto environment = extras.environment;
  environment.insert({{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", scene.path("home")}});
  if (stand.way == Way::bare) environment["HARN_PRETEND"] = "userns=no";
  if (stand.way == Way::unsupervised) environment["HARN_PRETEND"] = "userns=no,notify=no";
  const auto finished = run({.argv = words_for(stand, scene, receipt, list),
                             .environment = environment,
                             .cwd = scene.path("work"),
                             .uid = stand.uid,
                             .group = extras.terminal >= 0 ? 0 : scene.victim(),
                             .streams = {extras.input, -1},
                             .extra = extras.descriptors,
                             .terminal = extras.terminal});
  Told told{.receipt = read(receipt), .exit_code = finished.exit_code};
  for (const auto line : base::split(finished.out, '\n'))
    if (const auto tab = line.find('\t'); tab != std::string_view::npos)
      told.words.insert_or_assign(std::string(line.substr(0, tab)), std::string(line.substr(tab + 1)));
  return told;
}

bool receipt_names(const std::string& receipt, std::string_view gap, const std::string& path) {
  const auto value = base::parse_json(receipt);
  const auto* gaps = value ? value->find("gaps") : nullptr;
  if (gaps == nullptr) return false;
  return std::ranges::any_of(gaps->array(), [&](const base::Value& entry) {
    if (entry.find("dimension")->string() + "/" + entry.find("code")->string() != gap) return false;
    const auto* paths = entry.find("paths");
    if (paths == nullptr) return true;
    const auto at = AbsPath::parse(path);
    return at && std::ranges::any_of(paths->array(), [&](const base::Value& one) {
             const auto above = AbsPath::parse(one.string());
             return above && above->contains(*at);
           });
  });
}

}  // namespace harn::confine
