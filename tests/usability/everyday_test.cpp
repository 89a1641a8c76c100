// SPDX-License-Identifier: Apache-2.0
// Everyday work, one row per act: a script, the programs it needs and exactly what it prints.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "usability/person.h"

namespace harn::test {
namespace {

struct Act {
  std::string_view name = {};
  std::string_view needs = {};  // programs, separated by spaces
  std::string_view script = {};
  std::string_view prints = {};
};

// They need a private /tmp, home, /dev/shm or /dev/pts, sockets with names, or a list of their own processes.
constexpr std::string_view with_a_view_only[] = {
    "ListsRootAndDevices", "PseudoTerminals", "PythonMultiprocessing", "PythonSqlite", "SeesOnlyItsOwnProcesses", "SharedMemory", "Tmux",
    "UnixSocketsInside",   "WritesToHome",    "WritesToTmp",
};

constexpr Act acts[] = {
    {"GitInitAndCommit", "git", R"sh(
git init -q . && git config user.email a@b && git config user.name A
echo one > f && git add f && git commit -q -m first && git log --format=%s && git status --short)sh",
     "first\n"},
    {"GitCloneFromALocalPath", "git", R"sh(
git init -q a && cd a && git config user.email a@b && git config user.name A
echo one > f && git add f && git commit -q -m first && cd .. && git clone -q a b && cat b/f && git -C b log --format=%s)sh",
     "one\nfirst\n"},
    {"GitLinkedWorktreeCommit", "git", R"sh(
git init -q a && cd a && git config user.email a@b && git config user.name A
git commit -q --allow-empty -m first && git worktree add -q ../w -b side && cd ../w
echo two > g && git add g && git commit -q -m second && git -C ../a log --format=%s side)sh",
     "second\nfirst\n"},
    {"GitAmendWithAnEditor", "git", R"sh(
git init -q . && git config user.email a@b && git config user.name A
for i in 1 2; do git commit -q --allow-empty -m c$i; done
GIT_EDITOR='sed -i s/c2/new/' git commit -q --amend --allow-empty && git log --format=%s)sh",
     "new\nc1\n"},
    {"CompilesAndRunsC", "gcc", R"sh(
printf '#include <stdio.h>\nint main(void){puts("from c");return 0;}\n' > a.c && gcc -O1 -pipe a.c -o a && ./a)sh",
     "from c\n"},
    {"CompilesAndRunsCxx", "g++", R"sh(
printf '#include <cstdio>\nint main(){std::puts("from c++");}\n' > a.cpp && g++ a.cpp -o a && ./a)sh",
     "from c++\n"},
    {"MakeInParallel", "make gcc", R"sh(
for i in 1 2 3 4; do echo "int f$i(void){return $i;}" > f$i.c; done
printf 'all: f1.o f2.o f3.o f4.o\n\t@echo linked $^\n%%.o: %%.c\n\t@gcc -c $< -o $@\n' > Makefile && make -s -j4)sh",
     "linked f1.o f2.o f3.o f4.o\n"},
    {"CmakeConfiguresAndBuilds", "cmake make gcc", R"sh(
printf 'cmake_minimum_required(VERSION 3.13)\nproject(p C)\nadd_executable(p p.c)\n' > CMakeLists.txt
printf '#include <stdio.h>\nint main(void){puts("from cmake");return 0;}\n' > p.c
cmake -S . -B b > log && cmake --build b > log && b/p)sh",
     "from cmake\n"},
    {"PythonVenv", "python3", R"sh(
python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)')sh",
     "True\n"},
    {"PythonMultiprocessing", "python3", R"sh(
cat > m.py <<'END'
import multiprocessing as m
def double(n): return 2 * n
if __name__ == "__main__":
    with m.Pool(2) as pool: print(pool.map(double, range(4)))
    q = m.Queue(); p = m.Process(target=q.put, args=("queued",)); p.start(); print(q.get()); p.join()
END
python3 m.py)sh",
     "[0, 2, 4, 6]\nqueued\n"},
    {"PythonAsyncioSubprocess", "python3", R"sh(
cat > a.py <<'END'
import asyncio
async def main():
    p = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    out, _ = await p.communicate(b"through cat")
    print(out.decode(), p.returncode, sum(await asyncio.gather(*[asyncio.to_thread(int, "7") for _ in range(3)])))
asyncio.run(main())
END
python3 a.py)sh",
     "through cat 0 21\n"},
    {"PythonSqlite", "python3", R"sh(
python3 -c 'import sqlite3
for name in ("in project.db", ":memory:", "/tmp/t.db"):
    c = sqlite3.connect(name); c.execute("pragma journal_mode=wal"); c.execute("create table t(a)")
    c.execute("insert into t values (7)"); c.commit(); print(c.execute("select a from t").fetchone()[0])')sh",
     "7\n7\n7\n"},
    {"PythonThreadsAndTemporaryFiles", "python3", R"sh(
python3 -c 'import tempfile, threading, pathlib
with tempfile.TemporaryDirectory() as d:
    ts = [threading.Thread(target=lambda i=i: pathlib.Path(d, str(i)).write_text("x")) for i in range(8)]
    [t.start() for t in ts]; [t.join() for t in ts]; print(len(list(pathlib.Path(d).iterdir())))')sh",
     "8\n"},
    {"NodeChildProcess", "node", R"sh(
node -e 'const c=require("child_process"); console.log(c.execSync("echo sync").toString().trim());
c.spawn("cat",["-"],{stdio:["pipe","inherit","inherit"]}).stdin.end("spawned\n")')sh",
     "sync\nspawned\n"},
    {"NodeWorkerThreads", "node", R"sh(
node -e 'const w=require("worker_threads");
new w.Worker("require(\"worker_threads\").parentPort.postMessage(6*7)",{eval:true}).on("message",m=>console.log(m))')sh",
     "42\n"},
    {"NpmScript", "npm node", R"sh(
echo '{"name":"p","version":"1.0.0","scripts":{"test":"node -p 1+1"}}' > package.json && npm test --silent)sh",
     "2\n"},
    {"TarKeepsModesAndTimes", "tar gzip", R"sh(
mkdir d && echo x > d/f && chmod 640 d/f && touch -d @1000000000 d/f && tar czf d.tgz d && rm -r d && tar xzf d.tgz
stat -c '%a %Y' d/f)sh",
     "640 1000000000\n"},
    {"SortSpillsToDisk", "sort", "seq 200000 -1 1 | sort -n -S 1M | sed -n '1p;$p'", "1\n200000\n"},
    {"PerlRunsCommands", "perl",
     R"sh(perl -e 'print `echo from perl`; open(F,">","f") or die; print F "x"; close F; print -s "f", "\n"')sh", "from perl\n1\n"},
    {"JavaCompilesAndRuns", "javac java", R"sh(
printf 'class A { public static void main(String[] a) { System.out.println("from java"); } }' > A.java
javac -J-XX:TieredStopAtLevel=1 A.java && java -XX:TieredStopAtLevel=1 A)sh",
     "from java\n"},
    {"GoBuildsAProgram", "go", R"sh(
printf 'package main\nfunc main() { println("from go") }\n' > a.go && go run a.go 2>&1)sh",
     "from go\n"},
    {"HereDocument", "", "cat <<END\nline $((1+1))\nEND\ncat <<< word", "line 2\nword\n"},
    {"ProcessSubstitution", "", "diff <(printf 'a\\nb\\n') <(printf 'a\\nb\\n') && cat <(echo in) | tee >(cat >&2) | cat", "in\n"},
    {"NamedPipe", "", "mkfifo p && { echo through > p & cat p; wait; }", "through\n"},
    {"WritesToHome", "", "echo x > ~/f && mkdir -p ~/.cache/d && cat ~/f && echo ~ | grep -c /home", "x\n1\n"},
    {"WritesToTmp", "", "echo x > /tmp/f && cat /tmp/f && t=$(mktemp) && echo y > $t && cat $t && d=$(mktemp -d) && rmdir $d", "x\ny\n"},
    {"TmpdirVariable", "", "echo x > $TMPDIR/f && cat $TMPDIR/f", "x\n"},
    {"UnixSocketsInside", "python3", R"sh(
python3 -c 'import socket, os
for name in ("/tmp/s", "s"):
    l = socket.socket(socket.AF_UNIX); l.bind(name); l.listen()
    if os.fork() == 0:
        c = socket.socket(socket.AF_UNIX); c.connect(name); c.send(b"hello"); os._exit(0)
    print(l.accept()[0].recv(5).decode()); os.wait()
a, b = socket.socketpair(); a.send(b"pair"); print(b.recv(4).decode())')sh",
     "hello\nhello\npair\n"},
    {"SharedMemory", "python3", R"sh(
echo x > /dev/shm/f && cat /dev/shm/f && python3 -c 'from multiprocessing import shared_memory as s, Semaphore
m = s.SharedMemory(create=True, size=9); m.buf[0] = 7; n = s.SharedMemory(m.name); print(n.buf[0]); n.close(); m.close(); m.unlink(); Semaphore(1).acquire()')sh",
     "x\n7\n"},
    {"PseudoTerminals", "script", R"sh(script -qec 'test -t 1 && echo on a terminal' /dev/null | tr -d '\r')sh", "on a terminal\n"},
    {"Tmux", "tmux", R"sh(
tmux -L t -f /dev/null new-session -d 'echo in tmux > o; tmux -L t wait-for -S done; sleep 9' && tmux -L t wait-for done && cat o
tmux -L t kill-server)sh",
     "in tmux\n"},
    {"ListsRootAndDevices", "", "ls / > l && ls /dev >> l && grep -cx -e usr -e null -e zero -e urandom -e tty l", "5\n"},
    {"DevicesWork", "",
     "echo x > /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; echo y > /dev/stdout; echo z | cat /dev/stdin; "
     "echo f | cat /dev/fd/0; : > /dev/full; echo q 2>&- > /dev/full || echo full",
     "3\n3\ny\nz\nf\nfull\n"},
    {"SeesOnlyItsOwnProcesses", "ps",
     "until grep -qx harn-init /proc/1/comm; do sleep 0.01; done; ps -e -o comm= | sort -u | grep -vx -e bash -e ps -e sort -e grep",
     "harn-init\n"},
    {"Locale", "locale", "locale | grep ^LC_CTYPE; printf 'ä' | wc -m; LC_ALL=C printf 'ä' | LC_ALL=C wc -m",
     "LC_CTYPE=\"C.UTF-8\"\n1\n2\n"},
    {"BackgroundJobsAndTraps", "",
     "sleep 0.01 & wait $!; echo waited $?; trap 'echo bye' EXIT; (exit 3); echo $?; kill -0 $$ && echo alive",
     "waited 0\n3\nalive\nbye\n"},
    {"CoreFilesAreOff", "", "ulimit -c; bash -c 'kill -SEGV $$' 2>/dev/null; echo $?; ls", "0\n139\n"},
    {"FileTools", "find xargs",
     "mkdir -p a/b && touch a/b/{1,2,3} && find a -type f | xargs -P2 -n1 basename | sort | tr '\\n' ' ' && ln a/b/1 a/h && ln -s b a/l && "
     "mv a/b/2 a/2 && cp -a a c && rm -r a && ls c && chmod +x c/2 && touch -d @0 c/2 && df . >/dev/null && du -s c >/dev/null && flock "
     "c/2 echo locked",
     "1 2 3 2\nb\nh\nl\nlocked\n"},
    {"WhoAmI", "",
     "id -u > u && test -n \"$(id -un)\" && getent passwd \"$(id -u)\" | cut -d: -f3 | cmp - u && echo same; test -n \"$(hostname)\" && "
     "echo named",
     "same\nnamed\n"},
    {"TimeAndZone", "", "TZ=UTC date -d @0 +%F && TZ=Europe/Vienna date -d @0 +%H", "1970-01-01\n01\n"},
};  // namespace harn::test

std::ostream& operator<<(std::ostream& out, const Act& act) { return out << act.name; }

class Everyday : public testing::TestWithParam<std::tuple<Act, Who>> {};

bool installed(const std::string& program) {
  for (const auto* directory : {"/usr/local/bin/", "/usr/bin/", "/bin/"})
    if (::access((directory + program).c_str(), X_OK) == 0) return true;
  return false;
}

// Toolchains that live in the user's home are opened by a preset; this needs the real home.
TEST(EverydayAtHome, CargoBuildsAProject) {
  const char* home = std::getenv("HOME");
  if (home == nullptr || ::access((std::string(home) + "/.cargo/bin/cargo").c_str(), X_OK) != 0) GTEST_SKIP() << "no ~/.cargo/bin/cargo";
  Person person(Who::caller);
  person.environment()["HOME"] = home;
  person.environment()["XDG_STATE_HOME"] = person.home();
  person.environment()["PATH"] = std::string(home) + "/.cargo/bin:/usr/bin:/bin";
  const auto ran = person.sh("cargo init -q --vcs none --name p . && cargo run -q --offline");
  EXPECT_EQ(ran.out, "Hello, world!\n") << ran.err;
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

// Brought by `./dev test` beforehand: a package of the npm registry with the tests its authors ship.
TEST(EverydayWithPackages, APackagePassesItsOwnTests) {
  const std::filesystem::path suite = HARN_NPM_SUITE;
  if (!std::filesystem::exists(suite / "node_modules/minimist/test")) GTEST_SKIP() << "npm: " << suite << " is not there; run ./dev test";
  for (const auto who : everybody()) {
    const Person person(who);
    std::filesystem::copy(suite, person.project(), std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
    const auto ran = person.sh("node node_modules/tape/bin/tape 'node_modules/minimist/test/*.js' | grep '^# [a-z]* *[0-9]*$' | tail -n 3");
    EXPECT_EQ(ran.out, "# tests 153\n# pass  153\n# ok\n") << ran.err;
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
  }
}

TEST_P(Everyday, Works) {
  const auto& [act, who] = GetParam();
  std::istringstream needs{std::string(act.needs)};
  for (std::string program; needs >> program;)
    if (!installed(program)) GTEST_SKIP() << program << " is not installed in /usr/local/bin, /usr/bin or /bin";
  const Person person(who);
  const auto ran = person.harn({"run", "--", "bash", "-c", std::string(act.script)});
  EXPECT_EQ(ran.out, act.prints) << ran.err;
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

// The same where this user may make no namespaces: a supervisor acts for the command then.
TEST_P(Everyday, WorksWithoutNamespaces) {
  const auto& [act, who] = GetParam();
  if (std::ranges::find(with_a_view_only, act.name) != std::end(with_a_view_only)) GTEST_SKIP() << "needs a view";
  std::istringstream needs{std::string(act.needs)};
  for (std::string program; needs >> program;)
    if (!installed(program)) GTEST_SKIP() << program << " is not installed in /usr/local/bin, /usr/bin or /bin";
  Person person(who);
  person.environment()["HARN_PRETEND"] = "userns=no";
  const auto ran = person.harn({"run", "--backend", "linux", "--", "bash", "-c", std::string(act.script)});
  EXPECT_EQ(ran.out, act.prints) << ran.err;
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

class Nested : public testing::TestWithParam<Who> {};

// Beneath a supervisor nobody can make a boundary of their own: harn says so, keeps working inside the outer one, and
// refuses where it must not run without. Two deep is no different.
TEST_P(Nested, HarnInsideASupervisedOneTellsWhatItIs) {
  Person person(GetParam());
  person.environment()["HARN_PRETEND"] = "userns=no";
  const auto program = person.harn_words({}).back();
  const std::vector<std::string> outer = {"run", "--backend", "linux", "--read", program, "--", program, "run"};
  const auto inside = [&](std::vector<std::string> words) {
    words.insert(words.begin(), outer.begin(), outer.end());
    return person.harn(words);
  };
  const std::string script = "echo made > a && cat a; mkdir .vscode 2>/dev/null || echo kept";
  const auto once = inside({"--", "sh", "-c", script});
  const auto twice = inside({"--read", program, "--", program, "run", "--", "sh", "-c", script});
  for (const auto& ran : {once, twice}) {
    EXPECT_EQ(ran.out, "made\nkept\n") << ran.err;
    EXPECT_NE(ran.err.find("nothing confines this command"), std::string::npos) << ran.err;
  }
  const auto strict = inside({"--profile", "os_hardened", "--", "true"});
  EXPECT_EQ(strict.exit_code, 125) << strict.err;
  EXPECT_NE(strict.err.find("no Landlock"), std::string::npos) << strict.err;
}

INSTANTIATE_TEST_SUITE_P(As, Nested, testing::ValuesIn(everybody()), testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(Acts, Everyday, testing::Combine(testing::ValuesIn(acts), testing::ValuesIn(everybody())), [](const auto& row) {
  return std::string(std::get<0>(row.param).name) + (std::get<1>(row.param) == Who::nobody ? "_AsNobody" : "");
});

}  // namespace
}  // namespace harn::test
