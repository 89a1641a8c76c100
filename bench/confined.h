// SPDX-License-Identifier: Apache-2.0
// What the benches of confined commands share. Every comparison runs its cases in turns, so that
// whatever else the machine does hits all of them alike, and compares medians.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harn/sandbox.h"

namespace harn::bench {

struct Case {
  std::string name = {};
  std::string target = {};           // "<= 1.4" of the first case
  std::function<double()> run = {};  // what it took
  std::vector<double> taken = {};
};

void run_in_turns(std::vector<Case>& cases, int rounds);
// Medians and least values, each also as a ratio to the first case.
void print_ratios(const std::vector<Case>& cases, const std::string& unit);
double median(std::vector<double> values);

double seconds_now();
double micros_of(const std::function<void()>& work);

// Waits for the end; anything but success ends the bench. Standard error goes nowhere.
void spawn_and_wait(const std::vector<std::string>& words, const std::vector<std::string>& more_environment = {});
std::string output_of(const std::vector<std::string>& words);

enum class Layers : unsigned char {
  all,
  supervised,            // as on a host without user namespaces
  landlock_and_seccomp,  // … where no supervisor can answer either
  bubblewrap
};
Plan plan_here(const AbsPath& workspace, const std::vector<std::string>& words, Layers layers);
void library_run(const Plan& plan);

// The parts of the bench, each with its own heading.
void bench_spawning(const std::string& harn, const AbsPath& workspace, int rounds);
void bench_sessions(const std::string& harn, const AbsPath& workspace, int rounds);
void bench_rate(const AbsPath& workspace);
void bench_holding(const std::string& harn, const std::string& self, const AbsPath& workspace, int count);
void bench_steady_state(const std::string& harn, const std::string& self, const AbsPath& workspace, int rounds);
// Inside and outside alike: does one piece of work and prints how many microseconds it took.
int do_work(const std::string& name);
// Landlock and a filter that allows everything, for this process and all it starts.
bool wear_two_layers();

}  // namespace harn::bench
