// SPDX-License-Identifier: Apache-2.0
#include "plan/linux/overlay.h"

#include <gtest/gtest.h>

namespace harn::plan {
namespace {

const AbsPath place = AbsPath::of("/state/o");

MountStep bind(std::string_view path, bool file = false) {
  return {.op = MountOp::bind, .source = std::string(path), .target = AbsPath::of(path), .file = file};
}

Plan plan_with(std::vector<MountStep> mounts) {
  Plan plan;
  plan.route = Route::confined;
  plan.backend = Backend::linux;
  LinuxConfinement linux;
  linux.view = View{.mounts = std::move(mounts)};
  plan.confinement = std::move(linux);
  return plan;
}

Policy policy() {
  Policy out;
  out.workspace_roots = std::vector{AbsPath::of("/p")};
  return out;
}

const std::vector<MountStep>& mounts(const Plan& plan) { return std::get<LinuxConfinement>(plan.confinement).view->mounts; }

TEST(LayOver, EveryWritablePartOfTheWorkspaceGetsALayer) {
  auto plan = plan_with({bind("/p"),
                         {.op = MountOp::bind_read, .source = "/p/.git", .target = AbsPath::of("/p/.git")},
                         bind("/p/.git/objects"),
                         bind("/cache")});
  ASSERT_TRUE(lay_over(policy(), {.place = place}, plan));
  const auto& steps = mounts(plan);
  EXPECT_EQ(steps[0].op, MountOp::overlay);
  EXPECT_EQ(steps[0].layer, "/state/o/0");
  EXPECT_EQ(steps[1].op, MountOp::bind_read);
  EXPECT_EQ(steps[2].op, MountOp::overlay) << "what is open again inside must not reach the host either";
  EXPECT_EQ(steps[2].layer, "/state/o/1");
  EXPECT_EQ(steps[3].op, MountOp::bind);
  EXPECT_EQ(plan.notes, std::vector<std::string>{"what is written to '/cache' is not part of the workspace and changes at once"});
}

TEST(LayOver, EveryWritableDirectoryGetsALayerWhereThatIsAskedFor) {
  auto plan = plan_with({bind("/p"), bind("/cache"), bind("/state", /*file=*/true)});
  ASSERT_TRUE(lay_over(policy(), {.place = place, .all = true}, plan));
  EXPECT_EQ(mounts(plan)[1].op, MountOp::overlay);
  EXPECT_EQ(mounts(plan)[2].op, MountOp::bind);
  EXPECT_EQ(plan.notes, std::vector<std::string>{"what is written to '/state' is not part of the workspace and changes at once"});
  auto nothing = plan_with({});
  EXPECT_TRUE(lay_over(policy(), {.place = place, .all = true}, nothing)) << "nothing is written, so nothing needs a layer";
}

TEST(LayOver, WhatNoLayerCanLieOverIsRefused) {
  auto file = plan_with({bind("/p/one", /*file=*/true)});
  EXPECT_EQ(lay_over(policy(), {.place = place}, file).error().message, "no layer can lie over '/p/one', which is a single file");
  auto nothing = plan_with({});
  EXPECT_EQ(lay_over(policy(), {.place = place}, nothing).error().code, ErrorCode::not_available);
  auto no_view = plan_with({});
  std::get<LinuxConfinement>(no_view.confinement).view.reset();
  EXPECT_EQ(lay_over(policy(), {.place = place}, no_view).error().message,
            "--overlay needs the view of backend 'linux', and this plan has backend 'linux' without one");
  auto refused = plan_with({});
  refused.route = Route::refused;
  EXPECT_TRUE(lay_over(policy(), {.place = place}, refused)) << "it has its reason already";
}

}  // namespace
}  // namespace harn::plan
