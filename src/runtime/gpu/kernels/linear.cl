// Linear attention (Katharopoulos et al. 2020) on features: k [kv heads, kv_len, d] and q [q heads,
// q_len, d] are phi of the keys and queries already, NaN in rows that must not be read. A state is
// the sum over keys of phi(k) v^T [d, d_v] and of phi(k) [d]; state c of a head is that of its
// first c * chunk keys.
#define LINEAR_ITEMS 64

// states [kv heads, chunks, d * (d_v + 1)]: state c + 1 becomes the sum of chunk c alone, the first
// is empty. Group 0: a head and a chunk.
KERNEL(LINEAR_ITEMS)
linear_chunks(GLOBAL const REAL* k, GLOBAL const REAL* v, GLOBAL const int* lengths,
              GLOBAL REAL* states, const LinearParams p) {
  const INDEX head = GROUP(0) / p.chunks;
  const int c = (int)(GROUP(0) % p.chunks) - 1;
  const int most = p.has_lengths ? lengths[head / p.kv_heads] : p.kv_len;
  const int begin = c < 0 ? 0 : c * p.chunk;
  const int end = c < 0 ? 0 : SMALLER(begin + p.chunk, most);
  const int width = p.d_v + 1;
  GLOBAL REAL* state = states + GROUP(0) * (INDEX)(p.d * width);
  k += head * p.kv_len * p.d;
  v += head * p.kv_len * p.d_v;
  for (int at = ITEM; at < p.d * width; at += LINEAR_ITEMS) {
    const int row = at / width;
    const int e = at % width;
    REAL sum = ZERO;
    for (int j = begin; j < end; ++j) {
      const REAL weight = k[(INDEX)j * p.d + row];
      // A weight that is NaN poisons the state, whatever v holds.
      sum = FMA(weight, e == p.d_v ? ONE : v[(INDEX)j * p.d_v + e], sum);
    }
    state[at] = sum;
  }
}

// Sums the states up, in place. Group 0: a head and LINEAR_ITEMS numbers of its state.
KERNEL(LINEAR_ITEMS)
linear_prefix(GLOBAL REAL* states, const LinearParams p) {
  const INDEX size = (INDEX)p.d * (p.d_v + 1);
  const INDEX groups = (size + LINEAR_ITEMS - 1) / LINEAR_ITEMS;
  const INDEX at = GROUP(0) % groups * LINEAR_ITEMS + ITEM;
  if (at >= size) return;
  states += GROUP(0) / groups * p.chunks * size + at;
  REAL sum = ZERO;
  for (int c = 0; c < p.chunks; ++c) {
    sum += states[c * size];
    states[c * size] = sum;
  }
}

// Adds one key a head to its one state: k [kv heads, d], v [kv heads, d_v]. Group 0: a head.
KERNEL(LINEAR_ITEMS)
linear_add(GLOBAL const REAL* k, GLOBAL const REAL* v, GLOBAL REAL* states, const LinearParams p) {
  const INDEX head = GROUP(0);
  const int width = p.d_v + 1;
  GLOBAL REAL* state = states + head * p.d * width;
  for (int at = ITEM; at < p.d * width; at += LINEAR_ITEMS) {
    const int e = at % width;
    state[at] = FMA(k[head * p.d + at / width], e == p.d_v ? ONE : v[head * p.d_v + e], state[at]);
  }
}

// out [q heads, q_len, d_v]. Group 0: a query. Local memory: chunk + 1 numbers.
KERNEL(LINEAR_ITEMS)
linear_read(GLOBAL const REAL* q, GLOBAL const REAL* k, GLOBAL const REAL* v,
            GLOBAL const int* lengths, GLOBAL const REAL* states, GLOBAL REAL* out,
            const LinearParams p LOCAL_PARAM) {
  LOCAL_DECLARE
  LOCAL REAL* weights = local_memory;  // of the keys after the state
  const INDEX head = GROUP(0) / p.q_len;
  const int i = (int)(GROUP(0) % p.q_len);
  const INDEX b = head / p.q_heads;
  const int group = p.q_heads / p.kv_heads;
  const INDEX kv_head = b * p.kv_heads + head % p.q_heads / group;
  int end = p.kv_len;
  int from = 0;
  int state_index = 0;
  if (p.chunk > 0) {
    end = p.has_lengths ? lengths[b] : p.kv_len;
    const int position = i + p.kv_len - p.q_len;
    if (p.causal && position + 1 < end) end = position + 1;
    if (end < 0) end = 0;
    state_index = end / p.chunk;
    from = state_index * p.chunk;
  } else {
    from = end;  // everything is in the one state
  }
  const int width = p.d_v + 1;
  GLOBAL const REAL* state = states + (kv_head * p.chunks + state_index) * (INDEX)(p.d * width);
  q += (head * p.q_len + i) * p.d;
  for (int j = from + ITEM; j < end; j += LINEAR_ITEMS) {
    GLOBAL const REAL* key = k + (kv_head * p.kv_len + j) * p.d;
    REAL weight = ZERO;
    for (int c = 0; c < p.d; ++c) weight = FMA(q[c], key[c], weight);
    weights[j - from] = weight;
  }
  BARRIER;
  REAL total = ZERO;
  for (int c = 0; c < p.d; ++c) total = FMA(q[c], state[c * width + p.d_v], total);
  for (int j = from; j < end; ++j) total += weights[j - from];
  for (int e = ITEM; e < p.d_v; e += LINEAR_ITEMS) {
    REAL sum = ZERO;
    for (int c = 0; c < p.d; ++c) sum = FMA(q[c], state[c * width + e], sum);
    for (int j = from; j < end; ++j) {
      const REAL weight = weights[j - from];
      sum = FMA(weight, v[(kv_head * p.kv_len + j) * p.d_v + e], sum);
    }
    REAL result = sum / total;
    if (total == ZERO || end == 0) result = ZERO;
    if (total != total && end > 0) result = total;  // one poisoned number poisons the row
    out[(head * p.q_len + i) * p.d_v + e] = result;
  }
}
