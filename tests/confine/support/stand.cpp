// SPDX-License-Identifier: Apache-2.0
#include "confine/support/stand.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "confine/support/tools.h"
#include "confine/support/ways.h"
#include "harn/path.h"

namespace harn::confine {
namespace {

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
          backend_of(stand.way),
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
    auto more = harn_words(stand, scene, file);
    if (stand.way == Way::explained) more.insert(more.begin() + 1, "--explain");
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
  static constexpr std::string_view names[] = {"SucceedsUnconfined",     "RefusedWithTheView",         "RefusedWithoutUserNamespaces",
                                               "RefusedOnAnOldKernel",   "RefusedOrNamedUnsupervised", "RefusedWhileExplained",
                                               "RefusedNested",          "RefusedByBubblewrap",        "RefusedInAContainer",
                                               "TwoLocksWithoutTheView", "TwoLocksWithoutLandlock",    "TwoLocksWithoutSeccomp"};
  return fmt::format("{}As{}", names[static_cast<std::size_t>(way)], uid == 0 ? "Root" : "User");
}

Told run_cases(const Stand& stand, const Scene& scene, std::span<const Case> cases, const Extras& extras) {
  const auto list = write_list(scene, cases);
  const auto receipt = scene.path("run") + "/receipt.json";
  auto environment = extras.environment;
  environment.insert({{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", scene.path("home")}});
  add_environment(stand.way, environment);
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
