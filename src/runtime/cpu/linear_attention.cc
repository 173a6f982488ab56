#include "runtime/cpu/linear_attention.h"

#include <algorithm>
#include <limits>

#include "runtime/cpu/attention_kernels.h"

namespace rasp::runtime {

template <typename T>
void LinearState<T>::reset(std::size_t d, std::size_t d_v) {
  const auto padded = [](std::size_t size) {
    return (size + kValuePad<T> - 1) / kValuePad<T> * kValuePad<T>;
  };
  const auto clear = [](AlignedBuffer<T>& buffer, std::size_t size) {
    std::fill_n(buffer.reserve(size), size, T{0});
  };
  d_ = d;
  d_v_ = d_v;
  padded_d_ = padded(d);
  padded_v_ = padded(d_v);
  empty_ = true;
  poisoned_ = false;
  clear(sums_, d_ * padded_v_);
  clear(totals_, padded_d_);
  clear(key_, padded_d_);
  clear(query_, padded_d_);
  clear(value_, padded_v_);
  clear(out_, padded_v_);
}

template <typename T>
void LinearState<T>::set_features(const T* x, double (*feature)(double), T* features) {
  if (feature != nullptr) {
    for (std::size_t c = 0; c < d_; ++c)
      features[c] = static_cast<T>(feature(static_cast<double>(x[c])));
  } else {
    std::copy(x, x + d_, features);
    elu_plus_one(features, features, padded_d_);
    std::fill(features + d_, features + padded_d_, T{0});
  }
}

template <typename T>
void LinearState<T>::set_value(const T* v) {
  std::copy(v, v + d_v_, value_.data());
}

template <typename T>
void LinearState<T>::run(const T* k, const T* q, T* out) {
  linear_step(
      LinearStep<T>{d_, padded_v_, k, value_.data(), q, sums_.data(), totals_.data(), out_.data()});
  if (q != nullptr) std::copy(out_.data(), out_.data() + d_v_, out);
}

template <typename T>
void LinearState<T>::add(const T* k, const T* v, bool usable, double (*feature)(double)) {
  empty_ = false;
  poisoned_ = poisoned_ || !usable;
  if (poisoned_) return;  // nothing will be read from the sums
  set_features(k, feature, key_.data());
  set_value(v);
  run(key_.data(), nullptr, nullptr);
}

template <typename T>
void LinearState<T>::read(const T* q, bool usable, double (*feature)(double), T* out) {
  if (empty_ || !usable || poisoned_) {
    std::fill(out, out + d_v_, empty_ ? T{0} : std::numeric_limits<T>::quiet_NaN());
    return;
  }
  set_features(q, feature, query_.data());
  run(nullptr, query_.data(), out);
}

template <typename T>
void LinearState<T>::add_and_read(const T* k, const T* v, bool usable_key, const T* q,
                                  bool usable_query, double (*feature)(double), T* out) {
  if (poisoned_ || !usable_key || !usable_query) {
    add(k, v, usable_key, feature);
    return read(q, usable_query, feature, out);
  }
  empty_ = false;
  set_features(k, feature, key_.data());
  set_features(q, feature, query_.data());
  set_value(v);
  run(key_.data(), query_.data(), out);
}

template <typename T>
void attend_linear(const LinearCall<T>& call, std::size_t head, T* row, LinearState<T>& state) {
  const AttentionShape& shape = call.shape;
  const std::size_t b = head / shape.kv_heads;
  const std::size_t kv_head = head % shape.kv_heads;
  const std::size_t group = shape.q_heads / shape.kv_heads;
  const auto offset =
      static_cast<std::ptrdiff_t>(shape.kv_len) - static_cast<std::ptrdiff_t>(shape.q_len);
  T* key_row = row;
  T* query_row = key_row + shape.d;
  T* rotated = query_row + shape.d;
  state.reset(shape.d, shape.d_v);
  const auto read_key = [&](std::size_t key) {
    return call.transform.apply(Side::kKey, call.k.row(b, kv_head, key),
                                static_cast<std::ptrdiff_t>(key), call.rope, rotated, key_row) &&
           magnitude(call.v.row(b, kv_head, key), shape.d_v) <= std::numeric_limits<T>::max();
  };
  std::size_t key = 0;
  for (std::size_t i = 0; i < shape.q_len; ++i) {
    const std::size_t end = visible_keys(call.spec, shape, b, i).end;
    for (; key + 1 < end; ++key) {
      const bool usable = read_key(key);
      state.add(key_row, call.v.row(b, kv_head, key), usable, call.spec.feature);
    }
    for (std::size_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
      const bool usable = call.transform.apply(Side::kQuery, call.q.row(b, h, i),
                                               static_cast<std::ptrdiff_t>(i) + offset, call.rope,
                                               rotated, query_row);
      T* out = call.out.row(b, h, i);
      if (key < end) {  // the last key comes with the first query that sees it
        const bool usable_key = read_key(key);
        state.add_and_read(key_row, call.v.row(b, kv_head, key), usable_key, query_row, usable,
                           call.spec.feature, out);
        ++key;
      } else {
        state.read(query_row, usable, call.spec.feature, out);
      }
    }
  }
}

template class LinearState<float>;
template class LinearState<double>;
template void attend_linear(const LinearCall<float>&, std::size_t, float*, LinearState<float>&);
template void attend_linear(const LinearCall<double>&, std::size_t, double*, LinearState<double>&);

}  // namespace rasp::runtime
