// Attention, tiled (shapes as in runtime/attention.h; the reference twin is
// runtime/reference/attention.cc). A work-group takes BQ queries of one head and DV columns of the
// values, and walks over blocks of BK keys with a running maximum and sum (Milakov, Gimelshein
// 2018; Dao et al. 2022): the matrix of scores is never formed, and there is one division at the
// end. Sizes are macros: BQ, BK, TQ and TK (queries and keys an item holds scores of), DC (numbers
// of a row of q and k in local memory at a time), DV, SCORE.
//
// Equal keys have equal scores, bit by bit: sums run over the numbers of a row in ascending order.

#define ITEMS_K (BK / TK)
#define ITEMS_Q (BQ / TQ)
#define ITEMS (ITEMS_Q * ITEMS_K)
#define TV (DV / ITEMS_K)
// The columns of an item: neighbours in fours where there are so many, so that they load together.
#if TV % 4 == 0
#define VALUE_AT(e) ((e) / 4 * 4 * ITEMS_K + across * 4 + (e) % 4)
#else
#define VALUE_AT(e) (across + (e) * ITEMS_K)
#endif
// Rows in local memory are 4 numbers longer than they need to be: neighbours lie in other banks.
#define ROW_D (DC + 4)
#define ROW_K (BK + 4)

// [rows, DC] of a matrix [length, width] into local memory from row `first` and column `column` on,
// times `scale`; zeros outside.
#define STAGE(to, rows, row_length, columns, from, first, length, column, width, scale)           \
  for (int at = ITEM; at < (rows) * (columns); at += ITEMS) {                                     \
    const int r = at / (columns);                                                                 \
    const int c = at % (columns);                                                                 \
    const int inside = (first) + r < (length) && (column) + c < (width);                          \
    to[r * (row_length) + c] =                                                                    \
        inside ? from[(INDEX)((first) + r) * (INDEX)(width) + (INDEX)((column) + c)] * (scale)    \
               : ZERO;                                                                            \
  }

// Queries from `first` on read the keys [begin, end), before lengths and the number of keys.
FUNCTION int range_begin(const AttentionParams p, int position) {
  const int begin = p.left < 0 ? 0 : position - p.left;
  return begin > 0 ? begin : 0;
}
FUNCTION int range_end(const AttentionParams p, int position, int most) {
  int end = most;
  if (p.causal && position + 1 < end) end = position + 1;
  if (p.right >= 0 && position + p.right + 1 < end) end = position + p.right + 1;
  return end;
}

KERNEL(ITEMS)
attend(GLOBAL const REAL* q, GLOBAL const REAL* k, GLOBAL const REAL* v, GLOBAL REAL* out,
       GLOBAL const uchar* bad_values, GLOBAL const int* any_bad, GLOBAL const uchar* mask,
       GLOBAL const REAL* bias, GLOBAL const REAL* slopes, GLOBAL const int* lengths,
       GLOBAL const REAL* additive_v, const AttentionParams p, const REAL scale LOCAL_PARAM) {
  LOCAL_DECLARE
  LOCAL REAL* queries = local_memory;         // [BQ, ROW_D]
  LOCAL REAL* keys = queries + BQ * ROW_D;    // [BK, ROW_D], and the weights in their place:
  LOCAL REAL* weights = keys;                 // [BQ, ROW_K]
  LOCAL REAL* values = keys + LARGER(BK * ROW_D, BQ * ROW_K);  // [BK, DV]
  LOCAL REAL* lanes = values + BK * DV;                        // [BQ, ITEMS_K]

  const int across = ITEM % ITEMS_K;  // holds the keys across, across + ITEMS_K, ...
  const int down = ITEM / ITEMS_K;    // and the queries down * TQ, down * TQ + 1, ...
  const int blocks = (p.q_len + BQ - 1) / BQ;
  // The last blocks first: with a causal mask they are the longest.
  const int first = (blocks - 1 - (int)(GROUP(0) % blocks)) * BQ;
  const INDEX head = GROUP(0) / blocks;  // of batch and query heads
  const int h = (int)(head % p.q_heads);
  const INDEX b = head / p.q_heads;
  const INDEX kv_head = b * p.kv_heads + h / (p.q_heads / p.kv_heads);
  const int column = (int)GROUP(1) * DV;
  q += head * p.q_len * p.dk;
  k += kv_head * p.kv_len * p.dk;
  v += kv_head * p.kv_len * p.d_v;
  out += head * p.q_len * p.d_v;
  bad_values += kv_head * p.kv_len;
  if (p.mask_batch)
    mask += ((p.mask_batch == 1 ? 0 : b) * p.mask_heads + (p.mask_heads == 1 ? 0 : h)) * p.q_len *
            p.kv_len;
  if (p.bias_batch)
    bias += ((p.bias_batch == 1 ? 0 : b) * p.bias_heads + (p.bias_heads == 1 ? 0 : h)) * p.q_len *
            p.kv_len;
  const REAL slope = p.has_alibi ? slopes[2 * h] : ZERO;
  const REAL slope_rest = p.has_alibi ? slopes[2 * h + 1] : ZERO;

  const int most = p.has_lengths ? lengths[b] : p.kv_len;
  const int position = first + p.kv_len - p.q_len;  // of the first query
  const int last = SMALLER(first + BQ, p.q_len) - 1 - first;
  const int begin = range_begin(p, position);
  const int end = range_end(p, position + last, most);
  const int all_begin = range_begin(p, position + last);  // what every row sees
  const int all_end = range_end(p, position, most);
  const int look = p.mask_batch || p.bias_batch || p.has_alibi || any_bad[0];

  REAL tops[TQ], totals[TQ], sums[TQ][TV];
  int poisoned = 0;  // a bit a row
  UNROLL for (int r = 0; r < TQ; ++r) {
    tops[r] = NOTHING_SEEN;
    totals[r] = ZERO;
    UNROLL for (int e = 0; e < TV; ++e) sums[r][e] = ZERO;
  }
#if SCORE == SCORE_DOT
  const REAL q_scale = scale;
#else
  const REAL q_scale = ONE;
#endif

  for (int start = begin / BK * BK; start < end; start += BK) {
    BARRIER;  // the block before is done with local memory
    REAL scores[TQ][TK];
    UNROLL for (int r = 0; r < TQ; ++r)
      UNROLL for (int j = 0; j < TK; ++j) scores[r][j] = ZERO;
    for (int e = ITEM; e < BK * DV; e += ITEMS) {
      const int row = start + e / DV;
      const int at = column + e % DV;
      const REAL value =
          row < p.kv_len && at < p.d_v ? v[(INDEX)row * p.d_v + (INDEX)at] : ZERO;
      values[e] = IS_FINITE(value) ? value : ZERO;  // those rows are known by bad_values
    }
    for (int from = 0; from < p.dk; from += DC) {
      if (from > 0) BARRIER;
      if (p.dk > DC || start == begin / BK * BK)
        STAGE(queries, BQ, ROW_D, DC, q, first, p.q_len, from, p.dk, q_scale)
      STAGE(keys, BK, ROW_D, DC, k, start, p.kv_len, from, p.dk, ONE)
      BARRIER;
      LOCAL const REAL* query = queries + down * TQ * ROW_D;
      LOCAL const REAL* key = keys + across * ROW_D;
#if SCORE == SCORE_ADDITIVE
      const int count = SMALLER(DC, p.dk - from);
      for (int c = 0; c < count; ++c)
        UNROLL for (int r = 0; r < TQ; ++r)
          UNROLL for (int j = 0; j < TK; ++j)
            ADD_TERM(scores[r][j], query[r * ROW_D + c], key[j * ITEMS_K * ROW_D + c],
                     additive_v[from + c]);
#else
      for (int c = 0; c < DC; c += 4) {
        REAL4 b4[TK];
        UNROLL for (int j = 0; j < TK; ++j) b4[j] = LOAD4(key + j * ITEMS_K * ROW_D + c);
        UNROLL for (int r = 0; r < TQ; ++r) {
          const REAL4 a4 = LOAD4(query + r * ROW_D + c);
          UNROLL for (int j = 0; j < TK; ++j) {
            ADD_TERM(scores[r][j], a4.x, b4[j].x, ONE);
            ADD_TERM(scores[r][j], a4.y, b4[j].y, ONE);
            ADD_TERM(scores[r][j], a4.z, b4[j].z, ONE);
            ADD_TERM(scores[r][j], a4.w, b4[j].w, ONE);
          }
        }
      }
#endif
    }

    const int edit = look || start < all_begin || start + BK > all_end;
    UNROLL for (int r = 0; r < TQ; ++r) {
      const int row = first + down * TQ + r;
      const int at = position + down * TQ + r;
      const int row_begin = range_begin(p, at);
      const int row_end = row < p.q_len ? range_end(p, at, most) : 0;
      REAL top = NOTHING_SEEN;
      UNROLL for (int j = 0; j < TK; ++j) {
        const int key = start + across + j * ITEMS_K;
        REAL score = scores[r][j];
#if SCORE == SCORE_GAUSSIAN
        score *= scale;
#endif
        int seen = 1;
        if (edit) {
          const INDEX pair = (INDEX)row * p.kv_len + (INDEX)key;
          seen = key >= row_begin && key < row_end;
          if (seen && p.mask_batch) seen = mask[pair] != 0;
          if (seen && p.bias_batch) seen = bias[pair] != NOTHING_SEEN;
          if (seen && p.has_alibi) {
            const REAL distance = (REAL)(at > key ? at - key : key - at);
            score = FMA(-slope, distance, FMA(-slope_rest, distance, score));
          }
          if (seen && p.bias_batch) score += bias[pair];
          if (seen && any_bad[0] && bad_values[key]) poisoned |= 1 << r;
        }
        if (seen && !IS_FINITE(score)) {
          poisoned |= 1 << r;
          score = ZERO;
        }
        score = seen ? score : NOTHING_SEEN;
        scores[r][j] = score;
        top = LARGER(top, score);
      }
      lanes[(down * TQ + r) * ITEMS_K + across] = top;
    }
    BARRIER;  // also: nobody reads the keys any more
    UNROLL for (int r = 0; r < TQ; ++r) {
      LOCAL const REAL* lane = lanes + (down * TQ + r) * ITEMS_K;
      REAL top = tops[r];
      UNROLL for (int i = 0; i < ITEMS_K; ++i) top = LARGER(top, lane[i]);
      REAL fade = ONE;
      if (top != tops[r]) fade = p.hard ? ZERO : exp_nonpositive(tops[r] - top);
      tops[r] = top;
      REAL total = totals[r] * fade;
      UNROLL for (int j = 0; j < TK; ++j) {
        const REAL score = scores[r][j];
        REAL weight = ZERO;
        if (score != NOTHING_SEEN)
          weight = p.hard ? (score == top ? ONE : ZERO) : exp_nonpositive(score - top);
        total += weight;
        weights[(down * TQ + r) * ROW_K + across + j * ITEMS_K] = weight;
      }
      totals[r] = total;
      UNROLL for (int e = 0; e < TV; ++e) sums[r][e] *= fade;
    }
    BARRIER;
    for (int j = 0; j < BK; j += 4) {
      REAL block[4][TV];
      UNROLL for (int i = 0; i < 4; ++i)
        UNROLL for (int e = 0; e < TV; ++e) block[i][e] = values[(j + i) * DV + VALUE_AT(e)];
      UNROLL for (int r = 0; r < TQ; ++r) {
        const REAL4 w4 = LOAD4(weights + (down * TQ + r) * ROW_K + j);
        UNROLL for (int e = 0; e < TV; ++e) {
          sums[r][e] = FMA(w4.x, block[0][e], sums[r][e]);
          sums[r][e] = FMA(w4.y, block[1][e], sums[r][e]);
          sums[r][e] = FMA(w4.z, block[2][e], sums[r][e]);
          sums[r][e] = FMA(w4.w, block[3][e], sums[r][e]);
        }
      }
    }
  }

  // The items of a row put their totals, and what poisoned it, together.
  for (int round = 0; round < 2; ++round) {
    BARRIER;
    UNROLL for (int r = 0; r < TQ; ++r)
      lanes[(down * TQ + r) * ITEMS_K + across] =
          round == 0 ? totals[r] : (REAL)((poisoned >> r) & 1);
    BARRIER;
    UNROLL for (int r = 0; r < TQ; ++r) {
      LOCAL const REAL* lane = lanes + (down * TQ + r) * ITEMS_K;
      REAL sum = ZERO;
      UNROLL for (int i = 0; i < ITEMS_K; ++i) sum += lane[i];
      if (round == 0) totals[r] = sum;
      if (round == 1 && sum != ZERO) totals[r] = NOT_A_NUMBER;
    }
  }
  UNROLL for (int r = 0; r < TQ; ++r) {
    const int row = first + down * TQ + r;
    UNROLL for (int e = 0; e < TV; ++e) {
      const int at = column + VALUE_AT(e);
      if (row < p.q_len && at < p.d_v)
        out[(INDEX)row * p.d_v + (INDEX)at] =
            totals[r] == ZERO ? ZERO : sums[r][e] / totals[r];  // the one division
    }
  }
}
