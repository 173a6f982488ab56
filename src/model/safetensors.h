// Model files.
//
// Goals: any safetensors reader opens one and finds named tensors; equal models give equal bytes;
// nothing that the language can hold is lost (1, 1.0, true and "1" stay four tokens, 1/3 stays
// 1/3); and a wrong file is an error that names what is wrong, never a crash.
// Limits: 4 GiB a file, 32 MiB of header, JSON nested at most 16 deep. Weights are finite. The
// whole file is read into memory.
//
// Layout: u64 little-endian length of the header; the header, one JSON object, padded with spaces
// so that the data starts at a multiple of 8; the data, little-endian, row-major, without gaps, in
// this order:
//   embed.tokens           [vocabulary + 1, d_model]   BOS is the last row
//   embed.positions        [max_length + 1, d_model]
//   layers.L.heads.H.wq    [d_model, d_qk]             then .wk, .wv [d_model, d_v], .wo [d_v,
//                                                      d_model]; heads may differ in size
//   layers.L.mlp.w_in      [d_model, d_mlp]            then .b_in [d_mlp], .w_out [d_mlp, d_model];
//                                                      d_mlp may be 0, the tensors are there
//   unembed                [d_model, d_out]
//   slices.S.features      [values, width]             then .bos [width]; either may be empty
// Every tensor is F32 or F64, as the configuration's dtype says. `__metadata__` holds strings, as
// the format demands; each of these is a JSON text:
//   format_version  1
//   config       {"attention_scale", "causal", "d_model", "dtype": "f32" | "f64", "heads": [heads
//                of each layer], "max_length", "name", "program"}
//   vocabulary   [atom, ...]
//   decoder      {"codes": [atom, ...], "kind": "argmax" | "scalar", "max_denominator", "maximum",
//                "minimum", "number_type": "as listed" | "float", "type_output", "values": [atom,
//                ...]}
//   slices       [{"begin", "encoding": "one-hot" | "features" | "scalar" | "flag", "end", "error",
//                "first_step", "maximum", "minimum", "name", "origin", "values": [atom, ...]}, ...]
//   heads        [[{"name", "origin"}, ...heads], ...layers]
//   certificate  {"holds", "lines": [{"bound", "detail", "holds", "margin", "name", "part"}, ...]}
// Other metadata is ignored. An atom is true or false, a string, an int (a JSON integer below 2^53
// in size, else {"int": "12"}), a float (a JSON number with a point or exponent where a double
// holds it exactly, else {"ratio": "1/3"}), or {"inexact": 1.4142135623730951}. Reals that may be
// infinite are numbers or "inf", "-inf", "nan".
#pragma once

#include <string>

#include "base/result.h"
#include "model/model.h"

namespace rasp::model {

inline constexpr std::uint64_t kMaxFileBytes = std::uint64_t{4} << 30;
inline constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{32} << 20;

// The bytes are a function of the model alone. Fails when `model` breaks its own invariants
// (`check`) or the limits above.
[[nodiscard]] Result<std::string> serialise(const Model& model);
// Reads nothing but `bytes` and allocates no more than a small multiple of their size. The model
// satisfies `check`.
[[nodiscard]] Result<Model> deserialise(const std::string& bytes);

// Writes to a temporary name beside `path` and renames it: `path` is either the old file or the
// whole new one. What is no regular file (/dev/null) is written in place.
[[nodiscard]] Result<void> save(const Model& model, const std::string& path);
[[nodiscard]] Result<Model> load(const std::string& path);

// Every shape fits every other, every weight is finite, and exactly a float32 where the dtype says
// so; texts are UTF-8; slices, decoder and vocabulary are as model.h describes them.
[[nodiscard]] Result<void> check(const Model& model);

}  // namespace rasp::model
