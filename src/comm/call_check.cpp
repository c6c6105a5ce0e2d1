// SPDX-License-Identifier: Apache-2.0
#include "call_check.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include <ATen/EmptyTensor.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "dtype.hpp"

namespace renga::detail {
namespace {

// Long lists of shapes do not fit the text; the hash covers what is cut off.
struct Record {
  std::int64_t number;
  std::uint64_t hash;
  std::array<char, 16> name;
  std::array<char, 224> detail;
};

template <std::size_t Size>
void fill(std::array<char, Size>& field, const std::string& value) {
  field.fill('\0');
  std::memcpy(field.data(), value.data(), std::min(value.size(), Size - 1));
}

Record make_record(const Call& call, const std::string& detail) {
  Record record{call.number, std::hash<std::string>{}(detail), {}, {}};
  fill(record.name, call.name);
  fill(record.detail, detail);
  return record;
}

bool agree(const Record& a, const Record& b) {
  return a.number == b.number && a.hash == b.hash && a.name == b.name && a.detail == b.detail;
}

std::string what_rank_calls(const Record& record, int rank, std::int64_t other_number) {
  std::string what = text("rank ", rank, " calls ", record.name.data());
  if (record.number != other_number) {
    what += text(" #", record.number);
  }
  return record.detail.front() == '\0' ? what : what + ' ' + record.detail.data();
}

}  // namespace

std::string describe(const at::Tensor& tensor) {
  return text(dtype_name(tensor.scalar_type()), ' ', sizes_text(tensor.sizes()));
}

std::string describe(const std::vector<at::Tensor>& tensors) {
  std::string out = tensors.empty() ? "nothing" : dtype_name(tensors.front().scalar_type());
  for (const at::Tensor& tensor : tensors) {
    out += ' ' + sizes_text(tensor.sizes());
  }
  return out;
}

std::string describe_counts(const std::vector<at::Tensor>& tensors) {
  std::string out = dtype_name(tensors.front().scalar_type());
  for (const at::Tensor& tensor : tensors) {
    out += ' ' + std::to_string(tensor.numel());
  }
  return out + " elements";
}

at::Tensor gather_rows(Group& group, const Call& call, const at::Tensor& row) {
  at::Tensor table(at::detail::empty_cpu({group.size, row.numel()}, row.scalar_type()));
  complete(group, call, launch(group, call, [&] { return group.backend->all_gather(table.unbind(0), row); }));
  return table;
}

void compare_calls(Group& group, const Call& call, const std::string& detail) {
  const Record own = make_record(call, detail);
  at::Tensor row(at::detail::empty_cpu({static_cast<std::int64_t>(sizeof(Record))}, at::kByte));
  std::memcpy(row.data_ptr(), &own, sizeof(Record));
  const at::Tensor table = gather_rows(group, call, row);
  std::vector<Record> records(static_cast<std::size_t>(group.size));
  std::memcpy(records.data(), table.data_ptr(), records.size() * sizeof(Record));

  const Record& first = records.front();
  for (std::size_t rank = 1; rank < records.size(); ++rank) {
    if (!agree(first, records[rank])) {
      throw Mismatch(text(first.name.data(), " #", first.number, ": ", what_rank_calls(first, 0, records[rank].number),
                          ", ", what_rank_calls(records[rank], static_cast<int>(rank), first.number)));
    }
  }
}

void compare_sizes(Group& group, const Call& call, const std::vector<at::Tensor>& outputs,
                   const std::vector<at::Tensor>& inputs) {
  const auto size = static_cast<std::int64_t>(group.size);
  at::Tensor row(at::detail::empty_cpu({2 * size}, at::kLong));
  auto* const own = row.data_ptr<std::int64_t>();
  for (std::size_t peer = 0; peer < inputs.size(); ++peer) {
    own[peer] = inputs[peer].numel();
    own[inputs.size() + peer] = outputs[peer].numel();
  }
  const at::Tensor table = gather_rows(group, call, row);
  const auto* const all = table.data_ptr<std::int64_t>();
  for (std::int64_t from = 0; from < size; ++from) {
    for (std::int64_t to = 0; to < size; ++to) {
      const std::int64_t sent = all[from * 2 * size + to];
      const std::int64_t expected = all[to * 2 * size + size + from];
      if (sent != expected) {
        throw Mismatch(text(call.text(), ": rank ", from, " sends ", sent, " elements to rank ", to, ", rank ", to,
                            " expects ", expected));
      }
    }
  }
}

}  // namespace renga::detail
