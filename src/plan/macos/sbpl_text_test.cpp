// SPDX-License-Identifier: Apache-2.0
#include "plan/macos/sbpl_text.h"

#include <gtest/gtest.h>

namespace harn::plan {
namespace {

TEST(SbplText, QuotesWhatWouldEndOrBendAString) {
  struct Row {
    std::string_view text;
    std::string_view quoted;
  };
  constexpr Row rows[] = {
      {"/plain path", R"("/plain path")"},
      {R"(/a"b)", R"("/a\"b")"},
      {R"(/a\b)", R"("/a\\b")"},
      {R"(/x") (allow default) (subpath ")", R"("/x\") (allow default) (subpath \"")"},
      {"/line\nbreak\tand\rreturn", R"("/line\nbreak\tand\rreturn")"},
      {"/bell\x07"
       "1\x7f",
       R"("/bell\x071\x7f")"},
      {"/\xc3\xbc", "\"/\xc3\xbc\""},
      {"", R"("")"},
  };
  for (const auto& row : rows) EXPECT_EQ(sbpl_quoted(row.text), row.quoted);
}

TEST(SbplText, LettersMatchInEitherCaseAndTheRestExactly) {
  EXPECT_EQ(sbpl_any_case("/w.s/", ".Git/a+1"), R"(^/w\.s/\.[gG][iI][tT]/[aA]\+1(/|$))");
  EXPECT_EQ(sbpl_any_case(R"(/[a]\{2}|^$()*?)", ""), R"(^/\[a\]\\\{2\}\|\^\$\(\)\*\?(/|$))");
}

TEST(SbplText, WritesEveryFilterInItsOwnSpelling) {
  const SbplRule rule{.allow = true,
                      .operations = {"one", "two*"},
                      .filters = {{SbplMatch::literal, "/l"},
                                  {SbplMatch::subpath, "/s"},
                                  {SbplMatch::regex, "^/r$"},
                                  {SbplMatch::same_sandbox, {}},
                                  {SbplMatch::sysctl_prefix, "kern."},
                                  {SbplMatch::service, "a.b"},
                                  {SbplMatch::service_prefix, "a."},
                                  {SbplMatch::posix_name, "n"},
                                  {SbplMatch::ioctl, "17"},
                                  {SbplMatch::local_address, "localhost:*"},
                                  {SbplMatch::remote_address, "*:25"},
                                  {SbplMatch::any_socket, {}},
                                  {SbplMatch::socket, "/k"},
                                  {SbplMatch::unix_domain, {}}},
                      .why = "every filter"};
  EXPECT_EQ(sbpl_text(std::vector{rule}), R"((version 1)
(deny default)

; every filter
(allow one two*
  (literal "/l")
  (subpath "/s")
  (regex "^/r$")
  (target same-sandbox)
  (sysctl-name-prefix "kern.")
  (global-name "a.b")
  (global-name-prefix "a.")
  (ipc-posix-name "n")
  (ioctl-command 17)
  (local ip "localhost:*")
  (remote ip "*:25")
  (remote unix-socket)
  (remote unix-socket (path-literal "/k"))
  (socket-domain AF_UNIX))
)");
}

TEST(SbplText, SaysAReasonOnceForNeighbouringRules) {
  const std::vector<SbplRule> rules = {
      {true, {"a"}, {}, "same"}, {false, {"b"}, {{SbplMatch::literal, "/x"}}, "same"}, {true, {"c"}, {}, "other"}};
  EXPECT_EQ(sbpl_text(rules), "(version 1)\n(deny default)\n\n; same\n(allow a)\n(deny b (literal \"/x\"))\n\n; other\n(allow c)\n");
}

}  // namespace
}  // namespace harn::plan
