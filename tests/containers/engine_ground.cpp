// SPDX-License-Identifier: Apache-2.0
#include "containers/engine_ground.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "confine/support/tools.h"

namespace harn::test {
namespace {

constexpr auto own_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr uid_t somebody = 65534;
constexpr int starts = 200;  // looks at a daemon that comes up
constexpr useconds_t between_looks = 100'000;

bool installed(const std::string& program) {
  for (const auto* place : {"/usr/bin/", "/usr/sbin/", "/bin/"})
    if (::access((place + program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

uid_t EngineGround::uid_for(std::string_view which) { return which == "rootless" ? somebody : ::getuid(); }

EngineGround::EngineGround(const std::string& which) : engine_(which == "docker" ? "docker" : "podman"), uid_(uid_for(which)) {
  std::string pattern = "/var/tmp/harn-engine-XXXXXX";  // on a disk: an overlay cannot lie on another one
  root_ = ::mkdtemp(pattern.data());
  for (const auto* name : {"work", "home", "state", "scratch"}) std::filesystem::create_directory(root_ + "/" + name);
  environment_ = {{"PATH", own_path}, {"HOME", root_ + "/home"}, {"XDG_STATE_HOME", root_ + "/state"}, {"HARN_IMAGE", "harn-test:1"}};
  if (::geteuid() != 0) missing_ = "containers: a private engine needs root";
  for (const auto* program : {"busybox", "runc", engine_ == "docker" ? "dockerd" : "podman", engine_.c_str()})
    if (missing_.empty() && !installed(program)) missing_ = fmt::format("containers: {} is not installed", program);
  if (!missing_.empty()) return;
  if (uid_ != 0) settle_user();
  if (!missing_.empty()) return;
  engine_ == "docker" ? start_daemon() : settle_podman();
  if (missing_.empty()) make_image();
}

EngineGround::~EngineGround() {
  if (engine_ == "podman" && missing_.empty()) client("rm --all --force");
  // The process that holds a user's namespaces for the next container.
  if (uid_ != 0) root_shell(fmt::format("kill $(cat {}/run-user/libpod/tmp/pause.pid)", root_));
  if (daemon_ > 0) {
    ::kill(daemon_, SIGTERM);
    int status = 0;
    for (int i = 0; i < starts && ::waitpid(daemon_, &status, WNOHANG) == 0; ++i) ::usleep(between_looks);
    ::kill(daemon_, SIGKILL);
    ::waitpid(daemon_, &status, 0);
  }
  root_shell(fmt::format("for m in $(grep -o '{}[^ ]*' /proc/self/mounts); do umount -l $m 2>/dev/null; done", root_));
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

void EngineGround::kill_daemon() {
  ::kill(daemon_, SIGKILL);
  ::waitpid(daemon_, nullptr, 0);
  daemon_ = -1;
  // Its containerd ends with it. Until somebody has collected that one, its number looks alive to the next daemon.
  std::filesystem::remove(root_ + "/exec/containerd/containerd.pid");
}

void EngineGround::start_daemon() {
  const auto socket = "unix://" + root_ + "/docker.sock";
  environment_["DOCKER_HOST"] = socket;
  const auto log = root_ + "/dockerd.log";
  daemon_ = ::fork();
  if (daemon_ == 0) {
    const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::setsid();
    ::dup2(fd, STDOUT_FILENO);
    ::dup2(fd, STDERR_FILENO);
    const auto data = root_ + "/data";
    const auto exec = root_ + "/exec";
    const auto pid = root_ + "/dockerd.pid";
    const char* argv[] = {"dockerd",
                          "--data-root",
                          data.c_str(),
                          "--exec-root",
                          exec.c_str(),
                          "-p",
                          pid.c_str(),
                          "-H",
                          socket.c_str(),
                          "--bridge=none",
                          "--iptables=false",
                          "--ip6tables=false",
                          "--ip-forward=false",
                          "--ip-masq=false",
                          nullptr};
    const std::string path = std::string("PATH=") + own_path;
    const char* envp[] = {path.c_str(), nullptr};
    ::execve("/usr/sbin/dockerd", const_cast<char**>(argv), const_cast<char**>(envp));
    ::_exit(127);
  }
  for (int i = 0; i < starts; ++i) {
    if (client("version --format '{{.Server.Version}}'").exit_code == 0) return;
    if (::waitpid(daemon_, nullptr, WNOHANG) != 0) break;
    ::usleep(between_looks);
  }
  missing_ = "containers: dockerd does not start: " + shell("grep -v level=info " + log + " | tail -n 5").out;
}

void EngineGround::settle_podman() {
  const auto store = root_ + "/store";
  const auto run = root_ + "/run";
  std::ofstream(root_ + "/storage.conf") << fmt::format("[storage]\ndriver = \"overlay\"\ngraphroot = \"{}\"\nrunroot = \"{}\"\n", store,
                                                        run);
  std::ofstream settings(root_ + "/containers.conf");
  settings << "[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\nruntime = \"runc\"\n";
  // A user's own are in the runtime directory.
  if (uid_ == 0) settings << fmt::format("static_dir = \"{}/libpod\"\ntmp_dir = \"{}/libpod\"\n", store, run);
  settings.close();
  std::ofstream(root_ + "/policy.json") << R"({"default": [{"type": "insecureAcceptAnything"}]})";
  environment_["CONTAINERS_STORAGE_CONF"] = root_ + "/storage.conf";
  environment_["CONTAINERS_CONF"] = root_ + "/containers.conf";
  if (const auto told = client("version"); told.exit_code != 0) missing_ = "containers: podman does not work: " + told.err;
}

// An ordinary user needs numbers to give to others inside. These are for this process and its children alone, and nobody's on this machine.
void EngineGround::settle_user() {
  for (const auto* program : {"newuidmap", "newgidmap", "setpriv"})
    if (missing_.empty() && !installed(program)) missing_ = fmt::format("containers: rootless podman needs {}", program);
  if (!missing_.empty()) return;
  harn_ = confine::tools_directory() + "/harn";
  const auto numbers = root_ + "/numbers";
  std::ofstream(numbers) << "nobody:1000000:65536\n";
  const bool hidden = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
  for (const auto* file : {"/etc/subuid", "/etc/subgid"})
    if (!hidden || ::mount(numbers.c_str(), file, nullptr, MS_BIND, nullptr) != 0)
      missing_ = fmt::format("containers: rootless podman needs {}", file);
  const auto run = root_ + "/run-user";
  environment_["XDG_RUNTIME_DIR"] = run;
  environment_["XDG_DATA_HOME"] = root_ + "/store";  // whatever home a command is given
  root_shell(fmt::format(
      "chmod 777 {0}; mkdir -m 700 {1}; chown {2}:{2} {0}/work {0}/home {0}/state {0}/scratch {1}; install -d -o {2} {0}/store {0}/run",
      root_, run, uid_));
}

// The libraries are those of harn itself, which is not static in every build: it attacks from inside.
void EngineGround::make_image() {
  auto made = root_shell(
      fmt::format("set -e; r={0}/rootfs; mkdir -p $r/bin $r/etc $r/proc $r/sys $r/dev $r/usr/bin $r/usr/share; mkdir -m 1777 $r/tmp; echo "
                  "root:x:0:0:::/bin/sh > $r/etc/passwd; cp \"$(command -v busybox)\" $r/bin/; for a in sh ls cat id sleep ps env echo "
                  "touch head dd yes "
                  "kill wget true false mount chmod grep seq wc test date mktemp mkdir rm ln mv pwd setsid; do ln -s busybox $r/bin/$a; "
                  "done; cp {1} $r/bin/hog; ldd "
                  "{2} | grep -o "
                  "'/[^ ]*' | while read f; do mkdir -p $r$(dirname $f); cp -L $f $r$f; done; tar -C $r -cf {0}/rootfs.tar .",
                  root_, HARN_HOG, HARN_BINARY));
  if (made.exit_code == 0) made = client("import - harn-test:1 < ../rootfs.tar");
  if (made.exit_code == 0)
    made = shell(fmt::format(
        "{0} import --change 'ENTRYPOINT [\"/bin/false\"]' --change 'CMD [\"/bin/false\"]' --change 'ENV LD_PRELOAD=/evil.so' --change "
        "'ENV "
        "HOME=/evil' --change 'ENV GREETING=image' --change 'USER 4242' --change 'WORKDIR /evil' --change 'LABEL harn.owner=a/b/c/d/e/f "
        "harn.run=evil' - harn-hostile:1 < ../rootfs.tar && {0} import --change 'VOLUME /data' - harn-volume:1 < ../rootfs.tar",
        engine_));
  if (made.exit_code != 0) missing_ = "containers: no image could be made: " + made.err;
}

ProgramRun EngineGround::root_shell(const std::string& script) const {
  return run_program(
      {.argv = {"/bin/sh", "-c", script}, .environment = environment_, .cwd = work(), .scratch = AbsPath::of(root_ + "/scratch")});
}

ProgramRun EngineGround::shell(const std::string& script) const {
  if (uid_ == ::getuid()) return root_shell(script);
  const auto who = std::to_string(uid_);
  return run_program({.argv = {"/usr/bin/setpriv", "--reuid", who, "--regid", who, "--clear-groups", "/bin/sh", "-c", script},
                      .environment = environment_,
                      .cwd = work(),
                      .scratch = AbsPath::of(root_ + "/scratch")});
}

ProgramRun EngineGround::client(const std::string& words) const { return shell(engine_ + " " + words); }

std::string EngineGround::harn_words(const std::string& words) const {
  return fmt::format("{} run --backend {} {}", harn_, engine_, words);
}

ProgramRun EngineGround::harn(const std::string& words) const { return shell(harn_words(words) + " </dev/null"); }

namespace {

std::unique_ptr<EngineGround>& made() {
  static std::unique_ptr<EngineGround> one;
  return one;
}

class OneEngine : public testing::Environment {
 public:
  void TearDown() override { made().reset(); }
};
const auto* const registered = testing::AddGlobalTestEnvironment(new OneEngine);

}  // namespace

std::string_view asked_engine() {
  const char* engine = ::getenv("HARN_TEST_ENGINE");
  return engine == nullptr ? "podman" : engine;
}

EngineGround& ground() {
  if (!made()) made() = std::make_unique<EngineGround>(std::string(asked_engine()));
  return *made();
}

std::string missing_engine() {
  const auto& missing = ground().missing();
  const char* required = ::getenv("HARN_REQUIRE");
  if (!missing.empty() && required != nullptr && std::string_view(required).find("containers") != std::string_view::npos)
    ADD_FAILURE() << "required here: " << missing;
  return missing;
}

void Containers::SetUp() {
  if (const auto missing = missing_engine(); !missing.empty()) GTEST_SKIP() << missing;
}

void Containers::TearDown() {
  if (IsSkipped()) return;
  EXPECT_EQ(ground().containers(), "") << "containers are left";
}

}  // namespace harn::test
