// SPDX-License-Identifier: Apache-2.0
#include "renga/mesh/device_mesh.hpp"

#include <gtest/gtest.h>

#include "renga/core/error.hpp"

#include "tests/support/world.hpp"

namespace renga::test {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(DeviceMesh, RanksAreRowMajorLastAxisFastest) {
  const int size = world().size();
  const int rows = size % 2 == 0 ? 2 : 1;
  const DeviceMesh mesh(world(), {{"data", rows}, {"height", size / rows}});

  const int rank = mesh.axis("data").coordinate * mesh.axis("height").size + mesh.axis("height").coordinate;

  EXPECT_EQ(rank, world().rank());
  EXPECT_EQ(mesh.axis("data").communicator.size(), rows);
  EXPECT_EQ(mesh.axis("height").communicator.rank(), mesh.axis("height").coordinate);
}

TEST(DeviceMesh, AxisNotNamedHasSizeOne) {
  const DeviceMesh mesh(world(), {{"data", world().size()}});

  EXPECT_EQ(mesh.axis("stage").size, 1);
  EXPECT_EQ(mesh.axis("stage").communicator.size(), 1);
  EXPECT_EQ(mesh.find_axis("stage"), -1);
}

TEST(DeviceMesh, ReductionOverAxesAddsUpThoseRanksOnly) {
  if (world().size() != 4) {
    GTEST_SKIP() << "needs 4 ranks";
  }
  const DeviceMesh mesh(world(), {{"data", 2}, {"height", 2}});
  const auto value = at::full({}, static_cast<double>(1 << world().rank()), at::kDouble);
  const auto over_height = value.clone();
  const auto over_both = value.clone();

  mesh.over(2).all_reduce(over_height);
  mesh.over(3).all_reduce(over_both);

  EXPECT_EQ(over_height.item<double>(), world().rank() < 2 ? 3 : 12);
  EXPECT_EQ(over_both.item<double>(), 15);
}

TEST(DeviceMesh, WrongProductIsAnEquation) {
  const int size = world().size();
  const auto message = message_of([size] { DeviceMesh(world(), {{"data", 3}, {"height", size}}); });

  EXPECT_NE(message.find("data(3) * height(" + std::to_string(size) + ") = " + std::to_string(3 * size)),
            std::string::npos)
      << message;
}

TEST(DeviceMesh, BadAxesAreRefused) {
  EXPECT_THROW(DeviceMesh(world(), {{"data", 0}}), InvalidArgument);
  EXPECT_THROW(DeviceMesh(world(), {{"", world().size()}}), InvalidArgument);
  EXPECT_THROW(DeviceMesh(world(), {{"data", world().size()}, {"data", 1}}), InvalidArgument);
}

TEST(ParseAxes, ReadsAndRefuses) {
  EXPECT_EQ(parse_axes("data=2,height=3"), (DeviceMesh::AxisSizes{{"data", 2}, {"height", 3}}));
  for (const char* wrong : {"", "data", "data=", "=2", "data=x", "data=-1", "data=2,", "data=99999999999"}) {
    if (std::string(wrong) != "data=2,") {
      EXPECT_THROW(parse_axes(wrong), UsageError) << wrong;
    }
  }
}

}  // namespace
}  // namespace renga::test
