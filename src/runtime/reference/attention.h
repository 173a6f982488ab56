// The definition of attention, as it reads: double precision, one query at a time, no tiles, no
// vectors. What every backend is tested against.
#pragma once

#include <vector>

#include "base/result.h"
#include "runtime/attention.h"

namespace rasp::runtime::reference {

// weights [batch, q_heads, q_len, kv_len], 0 where masked; rows that see no key are 0.
[[nodiscard]] Result<std::vector<double>> weights(const View<const double>& q,
                                                  const View<const double>& k,
                                                  const AttentionSpec& spec);

[[nodiscard]] Result<void> attention(const View<const double>& q, const View<const double>& k,
                                     const View<const double>& v, const AttentionSpec& spec,
                                     const View<double>& out);

}  // namespace rasp::runtime::reference
