// SPDX-License-Identifier: Apache-2.0
#include "src/data/piece.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "renga/data/open_dataset.hpp"

namespace renga {
namespace {

using data::read_piece;

const std::vector<std::int64_t> kIndices = {4, 0, 9};

TEST(Piece, WholeImages) {
  const auto dataset = data::open_synthetic({2, 6, 5});
  const auto images = at::empty({3, 2, 6, 5});
  const auto labels = at::empty({3}, at::kLong);
  dataset->read(kIndices, images, labels);

  const auto piece = read_piece(*dataset, kIndices, {{0, 6}, {0, 5}}, at::kFloat);

  EXPECT_TRUE(at::equal(piece.images, images));
  EXPECT_TRUE(at::equal(piece.labels, labels));
}

TEST(Piece, RowsAndColumns) {
  const auto dataset = data::open_synthetic({2, 6, 5});
  const auto whole = read_piece(*dataset, kIndices, {{0, 6}, {0, 5}}, at::kFloat).images;
  for (const Range rows : {Range{0, 6}, Range{2, 4}, Range{5, 6}, Range{3, 3}}) {
    for (const Range columns : {Range{0, 5}, Range{1, 3}, Range{5, 5}}) {
      const auto piece = read_piece(*dataset, kIndices, {rows, columns}, at::kFloat);

      const auto expected = whole.slice(2, rows.begin, rows.end).slice(3, columns.begin, columns.end);
      EXPECT_TRUE(at::equal(piece.images, expected));
      EXPECT_TRUE(piece.images.is_contiguous());
    }
  }
}

TEST(Piece, OtherDtypes) {
  const auto dataset = data::open_synthetic({2, 6, 5});
  const auto whole = read_piece(*dataset, kIndices, {{0, 6}, {0, 5}}, at::kFloat).images;
  for (const auto dtype : {at::kDouble, at::kHalf, at::kBFloat16}) {
    const auto piece = read_piece(*dataset, kIndices, {{0, 6}, {0, 5}}, dtype);

    EXPECT_EQ(piece.images.scalar_type(), dtype);
    EXPECT_TRUE(at::equal(piece.images, whole.to(dtype)));
  }
}

TEST(Piece, NoSamples) {
  const auto dataset = data::open_synthetic({2, 6, 5});

  const auto piece = read_piece(*dataset, {}, {{0, 3}, {0, 5}}, at::kDouble);

  EXPECT_EQ(piece.images.sizes(), (std::vector<std::int64_t>{0, 2, 3, 5}));
  EXPECT_EQ(piece.labels.numel(), 0);
}

}  // namespace
}  // namespace renga
