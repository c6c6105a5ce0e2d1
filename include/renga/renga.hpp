// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/comm/communicator.hpp"
#include "renga/comm/environment.hpp"
#include "renga/core/error.hpp"
#include "renga/data/loader.hpp"
#include "renga/data/open_dataset.hpp"
#include "renga/mesh/device_mesh.hpp"
#include "renga/ops/ops.hpp"
#include "renga/parallel/adam.hpp"
#include "renga/parallel/distribute.hpp"
#include "renga/tensor/distributed.hpp"
#include "renga/tensor/placement.hpp"
#include "renga/tensor/scope.hpp"
