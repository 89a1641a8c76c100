// SPDX-License-Identifier: Apache-2.0
// One container of a plan: made, started by whoever attaches to it, looked at, and removed by its id.
// The destructor removes what is left. Its files live in a private directory that goes with it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harn/plan.h"
#include "harn/result.h"
#include "run/container/engine.h"
#include "run/container/report_pipe.h"
#include "sys/own_directory.h"

namespace harn::run {

enum class Life : std::uint8_t {
  one_command,  // the plan's
  kept,         // runs nothing until somebody executes something in it
  session,      // as `kept`, and whoever made it may end; many commands at a time
  limits,       // finds out whether its limits hold, and ends
};

struct ContainerRequest {
  const Plan& plan;  // for docker or podman
  std::string run_id = {};
  AbsPath place = {};                  // where the private directory is made; the engine must see it. For a session: the directory itself
  std::optional<AbsPath> canary = {};  // a file outside every grant that the caller can write
  Life life = Life::one_command;
  bool terminal = false;  // give the command a terminal of its own
  bool dies_with_thread = false;
  std::uint64_t lifetime_ms = 0;  // of a session; 0 = until it is ended
};

// A container that somebody else made and that stays.
struct Adopted {
  const Plan& plan;
  AbsPath directory = {};
  std::string id = {};
  std::string image_id = {};
  std::vector<Dimension> tried = {};
  bool dies_with_thread = false;
};

struct ContainerState {
  std::string status = {};  // "created" "running" "exited" …
  bool oom_killed = false;
};

class Container {
 public:
  static Result<Container> create(const ContainerRequest& request);
  static Container adopt(Adopted adopted);
  Container(Container&&) noexcept = default;
  Container& operator=(Container&&) = delete;
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;
  ~Container();

  const std::string& id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& image() const { return image_; }
  const std::string& image_id() const { return image_id_; }
  const EngineClient& client() const { return client_; }
  ReportPipe& report() { return *report_; }
  const std::vector<Dimension>& tried() const { return tried_; }  // proved by the first program, if it reports no open door
  const AbsPath& inside() const { return inside_; }               // what the container sees as entry::directory

  // A client that starts it and is its standard streams.
  std::vector<std::string> start_words() const;
  // One that runs the plan's command in it, telling to the pipe of that name in inside(). Needs Life::kept or Life::session.
  std::vector<std::string> exec_words(const Plan& plan, const std::string& report, bool terminal) const;
  Result<ContainerState> state() const;
  // At once: its first program ends when nobody listens to it; then by id, whatever became of that.
  void end();
  // Why it could not be removed; empty when nothing is left of it.
  std::string remove();
  // It stays when this object goes.
  void leave() { stays_ = true; }

 private:
  Container(AbsPath directory, EngineClient client) : directory_(std::move(directory)), client_(std::move(client)) {}
  Status write_files(const Plan& plan);
  std::string fill(std::string word, const ContainerRequest& request);
  Status make(const ContainerRequest& request);
  Status check_made(const Plan& plan);

  std::optional<sys::OwnDirectory> files_ = {};  // where the directory goes with this object
  AbsPath directory_;
  EngineClient client_;
  bool session_ = false;  // others have commands in it too
  bool stays_ = false;
  AbsPath inside_ = {};
  std::optional<ReportPipe> report_ = {};
  std::vector<Dimension> tried_ = {};
  std::string name_ = {};
  std::string id_ = {};
  std::string image_ = {};
  std::string image_id_ = {};
};

// Whether both plans are of the same container: they differ in the command, where it starts and its
// variables at most.
bool same_container(const Plan& one, const Plan& other);

// The client of a container plan, with its words filled from the directory.
EngineClient client_of(const Plan& plan, const AbsPath& directory, bool dies_with_thread);

// Removes containers of this user whose owner is gone; and nothing of anybody else's. What goes wrong
// here is no reason not to run a command.
void sweep_containers(const EngineClient& client);

}  // namespace harn::run
