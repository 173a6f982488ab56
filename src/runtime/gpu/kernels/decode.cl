// Decoding: one query a head against the rows that its cache keeps, keys [kv heads, capacity, dk]
// and values [kv heads, capacity, d_v], in the order of positions or, with a window, as a ring.
// Rows are split over work-groups, each with its own maximum and sums; a second kernel puts them
// together and divides once. SCORE as in attention.cl.
#define DECODE_ITEMS 64

// Puts a row of k [kv heads, dk] and v [kv heads, d_v] into slot `slot`. A row that is not finite
// is kept as a key of NaN, which poisons its readers, and a value of zeros. Group 0: a head.
KERNEL(DECODE_ITEMS)
append(GLOBAL const REAL* k, GLOBAL const REAL* v, GLOBAL REAL* keys, GLOBAL REAL* values,
       const DecodeParams p, const int slot) {
  const INDEX head = GROUP(0);
  int finite = 1;
  for (int c = 0; c < p.dk; ++c) finite = finite && IS_FINITE(k[head * p.dk + c]);
  for (int e = 0; e < p.d_v; ++e) finite = finite && IS_FINITE(v[head * p.d_v + e]);
  const INDEX row = head * p.capacity + slot;
  for (int c = ITEM; c < p.dk; c += DECODE_ITEMS)
    keys[row * p.dk + c] = finite ? k[head * p.dk + c] : NOT_A_NUMBER;
  for (int e = ITEM; e < p.d_v; e += DECODE_ITEMS)
    values[row * p.d_v + e] = finite ? v[head * p.d_v + e] : ZERO;
}

#define PARTIAL (p.d_v + 2) /* the sums, the maximum, the total */

// partial [q heads, splits, d_v + 2]. Group 0: a query head and a split. Local memory: dk + d_v +
// 2 * DECODE_ITEMS numbers.
KERNEL(DECODE_ITEMS)
decode(GLOBAL const REAL* q, GLOBAL const REAL* keys, GLOBAL const REAL* values,
       GLOBAL const REAL* slopes, GLOBAL const REAL* additive_v, GLOBAL REAL* partial,
       const DecodeParams p, const REAL scale LOCAL_PARAM) {
  LOCAL_DECLARE
  LOCAL REAL* query = local_memory;        // [dk]
  LOCAL REAL* sums = query + p.dk;         // [d_v]
  LOCAL REAL* weights = sums + p.d_v;      // [DECODE_ITEMS]
  LOCAL REAL* tops = weights + DECODE_ITEMS;
  const INDEX head = GROUP(0) / p.splits;
  const int split = (int)(GROUP(0) % p.splits);
  const int h = (int)(head % p.q_heads);
  const INDEX kv_head = head / p.q_heads * p.kv_heads + h / (p.q_heads / p.kv_heads);
  const int share = (p.count + p.splits - 1) / p.splits;
  const int begin = split * share;
  const int end = SMALLER(begin + share, p.count);
  keys += kv_head * p.capacity * p.dk;
  values += kv_head * p.capacity * p.d_v;
#if SCORE == SCORE_DOT
  for (int c = ITEM; c < p.dk; c += DECODE_ITEMS) query[c] = q[head * p.dk + c] * scale;
#else
  for (int c = ITEM; c < p.dk; c += DECODE_ITEMS) query[c] = q[head * p.dk + c];
#endif
  for (int e = ITEM; e < p.d_v; e += DECODE_ITEMS) sums[e] = ZERO;
  REAL top = NOTHING_SEEN;
  REAL total = ZERO;
  for (int start = begin; start < end; start += DECODE_ITEMS) {
    BARRIER;
    const int slot = start + ITEM;
    REAL score = NOTHING_SEEN;
    if (slot < end) {
      GLOBAL const REAL* key = keys + (INDEX)slot * p.dk;
      score = ZERO;
      for (int c = 0; c < p.dk; ++c) ADD_TERM(score, query[c], key[c], additive_v[c]);
#if SCORE == SCORE_GAUSSIAN
      score *= scale;
#endif
      if (p.has_alibi) {
        int back = p.position - slot;
        if (p.window > 0) back %= p.window;
        score = FMA(-slopes[2 * h], (REAL)back, FMA(-slopes[2 * h + 1], (REAL)back, score));
      }
      if (!IS_FINITE(score)) score = NOT_A_NUMBER;
    }
    tops[ITEM] = score;
    BARRIER;
    REAL higher = top;
    int number = 1;
    for (int i = 0; i < DECODE_ITEMS; ++i) {
      higher = LARGER(higher, tops[i]);
      number = number && tops[i] == tops[i];
    }
    REAL fade = ONE;
    if (higher != top) fade = p.hard ? ZERO : exp_nonpositive(top - higher);
    top = higher;
    REAL weight = ZERO;
    if (slot < end)
      weight = p.hard ? (score == top ? ONE : ZERO) : exp_nonpositive(score - top);
    weights[ITEM] = weight;
    BARRIER;
    total *= fade;
    const int count = SMALLER(DECODE_ITEMS, end - start);
    for (int i = 0; i < count; ++i) total += weights[i];
    if (!number) total = NOT_A_NUMBER;
    for (int e = ITEM; e < p.d_v; e += DECODE_ITEMS) {
      REAL sum = sums[e] * fade;
      for (int i = 0; i < count; ++i)
        sum = FMA(weights[i], values[(INDEX)(start + i) * p.d_v + e], sum);
      sums[e] = sum;
    }
  }
  partial += GROUP(0) * PARTIAL;
  for (int e = ITEM; e < p.d_v; e += DECODE_ITEMS) partial[e] = sums[e];
  if (ITEM == 0) {
    partial[p.d_v] = top;
    partial[p.d_v + 1] = total;
  }
}

// out [q heads, d_v]. Group 0: a query head.
KERNEL(DECODE_ITEMS)
combine(GLOBAL const REAL* partial, GLOBAL REAL* out, const DecodeParams p) {
  const INDEX head = GROUP(0);
  partial += head * p.splits * PARTIAL;
  REAL top = NOTHING_SEEN;
  for (int s = 0; s < p.splits; ++s) top = LARGER(top, partial[s * PARTIAL + p.d_v]);
  for (int e = ITEM; e < p.d_v; e += DECODE_ITEMS) {
    REAL sum = ZERO;
    REAL total = ZERO;
    for (int s = 0; s < p.splits; ++s) {
      GLOBAL const REAL* part = partial + s * PARTIAL;
      const REAL before = part[p.d_v];
      REAL fade = ONE;
      if (before != top) fade = p.hard ? ZERO : exp_nonpositive(before - top);
      // An empty part has no maximum and no weight; a poisoned one keeps its NaN.
      if (part[p.d_v + 1] == ZERO) continue;
      sum = FMA(part[e], fade, sum);
      total = part[p.d_v + 1] == part[p.d_v + 1] ? FMA(part[p.d_v + 1], fade, total) : NOT_A_NUMBER;
      if (total != total) break;
    }
    out[head * p.d_v + e] = total == ZERO ? ZERO : sum / total;
  }
}
