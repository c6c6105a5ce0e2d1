// SPDX-License-Identifier: Apache-2.0
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/data/open_dataset.hpp"

#include "src/data/counter_random.hpp"

namespace renga::data {
namespace {

constexpr std::int64_t kTrainSize = 50000;
constexpr std::int64_t kTestSize = 10000;
constexpr std::int64_t kClasses = 10;

class Synthetic : public Dataset {
 public:
  Synthetic(const ImageShape& shape, std::int64_t samples, std::int64_t classes, CounterRandom random)
      : shape_(shape), samples_(samples), classes_(classes), random_(random) {}

  std::int64_t size() const override { return samples_; }
  ImageShape shape() const override { return shape_; }
  std::int64_t classes() const override { return classes_; }

 private:
  void read_samples(std::span<const std::int64_t> indices, std::span<float> images,
                    std::span<std::int64_t> labels) const override {
    const auto pixels = static_cast<std::size_t>(shape_.numel());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const CounterRandom sample = random_.derived(static_cast<std::uint64_t>(indices[i]));
      float* image = images.data() + i * pixels;
      for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        image[pixel] = sample.symmetric(pixel);
      }
      // After the last pixel's draw, so that it is independent of them.
      RandomStream label(sample.derived(pixels));
      labels[i] = static_cast<std::int64_t>(label.below(static_cast<std::uint64_t>(classes_)));
    }
  }

  ImageShape shape_;
  std::int64_t samples_;
  std::int64_t classes_;
  CounterRandom random_;
};

std::int64_t at_least_one(const char* what, std::int64_t value) {
  if (value < 1) {
    throw InvalidArgument(text("synthetic: ", what, ": expected at least 1, got ", value));
  }
  return value;
}

}  // namespace

std::shared_ptr<const Dataset> open_synthetic(const ImageShape& shape, const DatasetOptions& options) {
  const bool train = options.split == Split::Train;
  const ImageShape image{at_least_one("channels", options.channels.value_or(shape.channels)),
                         at_least_one("height", options.image_size.value_or(shape.height)),
                         at_least_one("width", options.image_size.value_or(shape.width))};
  const auto samples = at_least_one("samples", options.samples.value_or(train ? kTrainSize : kTestSize));
  const auto classes = at_least_one("classes", options.classes.value_or(kClasses));
  return std::make_shared<Synthetic>(image, samples, classes,
                                     CounterRandom(options.seed).derived(train ? kTrainSamples : kTestSamples));
}

}  // namespace renga::data
