// SPDX-License-Identifier: Apache-2.0
// Real programs: what is learned suffices, leaves the project as it was, and opens of the home directory exactly
// what the row names.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "learn/learning.h"

namespace harn::test {
namespace {

struct Row {
  std::string_view name;
  std::string_view program;  // it is about; without it the row is skipped
  std::string_view setup;
  std::string_view script;
  std::vector<std::string_view> home = {};  // grants beneath the home directory, all of them
  bool writes = false;                      // in the project
  bool needs_network = false;               // its own loopback, which only a view has
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {.name = "Git",
       .program = "/usr/bin/git",
       .setup = "printf '[user]\\nname = x\\nemail = x@example.org\\n' > {H}/.gitconfig; git init -q .; echo 1 > f",
       .script = "git add f && git commit --allow-empty -qm one && git log --oneline",
       .home = {".gitconfig"},
       .writes = true},
      {.name = "Make",
       .program = "/usr/bin/make",
       .setup = "printf 'all: a b\\n%%: %%.c\\n\\tcc -o $@ $<\\n' > Makefile; echo 'int main(void) { return 0; }' > a.c; cp a.c b.c",
       .script = "make -j2 && ./a && ./b",
       .writes = true},
      {.name = "Cmake",
       .program = "/usr/bin/cmake",
       .setup = "printf 'cmake_minimum_required(VERSION 3.20)\\nproject(p C)\\nadd_executable(a a.c)\\n' > CMakeLists.txt; "
                "echo 'int main(void) { return 0; }' > a.c",
       .script = "cmake -S . -B build >/dev/null && cmake --build build >/dev/null && build/a",
       .writes = true},
      {.name = "NpmTest",
       .program = "/usr/bin/npm",
       .setup = R"(echo '{"name":"p","version":"1.0.0","scripts":{"test":"node t.js"}}' > package.json
                   echo 'require("assert").equal(require("fs").readdirSync(".").length > 1, true)' > t.js)",
       .script = "npm test"},
      {.name = "PythonUnittest",
       .program = "/usr/bin/python3",
       .setup = "mkdir -p {H}/data; echo 1 > {H}/data/a; mkdir t; touch t/__init__.py; printf '"
                "import os, tempfile, unittest\\n"
                "class T(unittest.TestCase):\\n"
                "  def test_it(self):\\n"
                "    with tempfile.NamedTemporaryFile() as f: f.write(b\"x\")\\n"
                "    self.assertEqual(open(os.path.expanduser(\"~/data/a\")).read(), \"1\\\\n\")\\n' > t/test_it.py",
       .script = "python3 -m unittest -q t.test_it",
       .home = {"data/a"},
       .writes = true},  // __pycache__; temporary files where there is no view
      {.name = "PipFromALocalIndex",
       .program = "/usr/bin/python3",
       .setup = "mkdir wheels; cd wheels; python3 -c 'import zipfile\n"
                "z = zipfile.ZipFile(\"demo-1.0-py3-none-any.whl\", \"w\")\n"
                "z.writestr(\"demo.py\", \"x = 1\")\n"
                "z.writestr(\"demo-1.0.dist-info/METADATA\", \"Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n\")\n"
                "z.writestr(\"demo-1.0.dist-info/WHEEL\", \"Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: "
                "py3-none-any\\n\")\n"
                "z.writestr(\"demo-1.0.dist-info/RECORD\", \"\")'",
       .script = "python3 -m pip install -q --no-index --no-cache-dir --find-links wheels --target site demo && "
                 "PYTHONPATH=site python3 -c 'import demo'",
       .writes = true},
      {.name = "NodeServer",
       .program = "/usr/bin/node",
       .setup = R"(echo 'const http = require("http");
const s = http.createServer((q, r) => r.end("ok"));
s.listen(0, "127.0.0.1", () => http.get({host: "127.0.0.1", port: s.address().port}, (r) => { r.resume(); r.on("end", () => s.close()); }));' > s.js)",
       .script = "node s.js",
       .needs_network = true},
      {.name = "Gcc",
       .program = "/usr/bin/gcc",
       .setup = "echo 'int main(void) { return 0; }' > a.c; mkdir out",
       .script = "gcc -O1 -o out/a a.c && out/a",
       .writes = true},
      {.name = "TarAndSort",
       .program = "/usr/bin/tar",
       .setup = "mkdir d; for i in 1 2 3; do echo $i > d/$i; done",
       .script = "tar cf - d | tar tf - | sort | wc -l > /dev/null"},
      {.name = "Java",
       .program = "/usr/bin/javac",
       .setup = "echo 'class A { public static void main(String[] a) { System.out.println(1); } }' > A.java",
       .script = "javac A.java && java -Xmx64m -Xshare:off A",
       .writes = true},
      {.name = "AToolchainInTheHome",
       .program = "/bin/sh",
       .setup = "mkdir -p {H}/.nvm/versions/node/v1.2.3/bin {H}/.nvm/versions/node/v1.2.3/lib; "
                "printf '#!/bin/sh\\ncat {H}/.nvm/versions/node/v1.2.3/lib/x\\n' > {H}/.nvm/versions/node/v1.2.3/bin/tool; "
                "chmod +x {H}/.nvm/versions/node/v1.2.3/bin/tool; echo 1 > {H}/.nvm/versions/node/v1.2.3/lib/x",
       .script = "{H}/.nvm/versions/node/v1.2.3/bin/tool",
       .home = {".nvm/versions/node"}},
  };
  return all;
}

int times() {
  const char* text = std::getenv("HARN_LEARN_TIMES");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) out.insert(entry.path());
  return out;
}

class Workload : public testing::TestWithParam<std::tuple<Stand, std::size_t>> {};

TEST_P(Workload, RunsUnderWhatWasLearned) {
  const auto& [stand, index] = GetParam();
  const auto& row = rows()[index];
  if (::access(std::string(row.program).c_str(), X_OK) != 0) GTEST_SKIP() << row.program << " is not here";
  const Learning learning(stand);
  learning.prepare(row.setup);
  const bool cannot = row.needs_network && stand.tier == Tier::bare;
  const auto before = names_in(learning.person().project());

  const auto learned = learning.learn({}, row.script);
  ASSERT_TRUE(learned.policy) << learned.said << learned.text;
  if (cannot) {
    EXPECT_EQ(learned.exit_code, 1) << "nothing opens a loopback here";
    EXPECT_NE(learned.said.find("not proved"), std::string::npos) << learned.said;
    return;
  }
  ASSERT_EQ(learned.exit_code, 0) << learned.said << learned.text;
  if (stand.tier == Tier::view) {
    EXPECT_EQ(names_in(learning.person().project()), before) << "learning leaves no trace";
  }

  std::set<std::string> home;
  for (const auto& path : learned.paths())
    if (AbsPath::of(learning.person().home()).contains(AbsPath::of(path)))
      home.insert(std::string(AbsPath::of(learning.person().home()).below(AbsPath::of(path))));
  EXPECT_EQ(home, std::set<std::string>(row.home.begin(), row.home.end())) << learned.text;
  for (const auto* secret : {"{H}/.ssh/id_rsa", "{H}/.netrc", "{H}/.aws/credentials", "{H}/private/diary", "{H}/.config/other/settings",
                             "{H}/.cargo/bin/unused"})
    EXPECT_FALSE(learned.opens(learning.fill(secret))) << secret << "\n" << learned.text;
  if (!row.writes && stand.tier == Tier::view) {
    EXPECT_TRUE(entries(learned.policy->workspace_roots).empty()) << learned.text;
  }

  for (int i = 0; i < times(); ++i) {
    const auto ran = learning.run_learned(row.script);
    EXPECT_EQ(ran.exit_code, 0) << "run " << i << ": " << ran.out << ran.err << learned.text;
  }
}

std::string name_of(const testing::TestParamInfo<Workload::ParamType>& info) {
  return std::get<0>(info.param).name() + std::string(rows()[std::get<1>(info.param)].name);
}
INSTANTIATE_TEST_SUITE_P(Learned, Workload,
                         testing::Combine(testing::ValuesIn(learn_stands()), testing::Range<std::size_t>(0, rows().size())), name_of);

}  // namespace
}  // namespace harn::test
