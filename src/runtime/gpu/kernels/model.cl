// The forward pass of a compiled model (model/model.h), stage by stage over all rows of a batch of
// sequences; see common.cl on what certificates rest on. Sums over inputs of a projection, hidden
// units, numbers of a key and heads run in their order, a unit's bias comes last; values are summed
// in the order of their keys. Nothing depends on how sequences are batched. Where no sum of values
// rounds, as in most compiled heads, results are the bits that runtime/cpu/forward.h computes.
#define MODEL_ITEMS 128
#define TILE_ROWS 32 /* of a projection: a group computes so many rows */
#define TILE_COLUMNS 32
#define TILE_INPUTS 8  /* and takes so many inputs at a time */
#define ROW_QUERIES 16 /* of attention */
#define ROW_KEYS 32
#define ROW_NUMBERS 32

// x [rows, d] = token_embedding[ids] + position_embedding[positions]
KERNEL(MODEL_ITEMS)
embed(GLOBAL const REAL* tokens, GLOBAL const REAL* positions, GLOBAL const int* ids,
      GLOBAL const int* places, GLOBAL REAL* x, const int rows, const int d) {
  const INDEX item = GROUP(0) * MODEL_ITEMS + ITEM;
  const INDEX row = item / d;
  if (row >= (INDEX)rows) return;
  const INDEX c = item % d;
  x[item] = tokens[ids[row] * (INDEX)d + c] + positions[places[row] * (INDEX)d + c];
}

// y [rows, outputs] from x [rows, inputs] and w [inputs, outputs], as p.mode says. Inputs are
// summed in their order, one product after another, whatever the tile. segment_ends [tiles of
// inputs]: 1 where a segment ends; its sum is added to y on its own. Group 0: a tile of rows,
// group 1: of columns. Local memory: TILE_INPUTS * (TILE_ROWS + TILE_COLUMNS).
#define TILE_ITEM_ROWS (TILE_ROWS * TILE_COLUMNS / MODEL_ITEMS)
KERNEL(MODEL_ITEMS)
project(GLOBAL const REAL* x, GLOBAL const REAL* w, GLOBAL const REAL* b,
        GLOBAL const int* segment_ends, GLOBAL REAL* y, const ProjectParams p LOCAL_PARAM) {
  LOCAL_DECLARE
  x += (INDEX)p.x_row * p.x_stride;
  y += (INDEX)p.y_row * p.y_stride;
  LOCAL REAL* x_tile = local_memory;                          // [TILE_ROWS, TILE_INPUTS]
  LOCAL REAL* w_tile = x_tile + TILE_ROWS * TILE_INPUTS;      // [TILE_INPUTS, TILE_COLUMNS]
  const int first = (int)GROUP(0) * TILE_ROWS;
  const int column = (int)GROUP(1) * TILE_COLUMNS + ITEM % TILE_COLUMNS;
  const int down = ITEM / TILE_COLUMNS * TILE_ITEM_ROWS;
  REAL sums[TILE_ITEM_ROWS], results[TILE_ITEM_ROWS];
  UNROLL for (int r = 0; r < TILE_ITEM_ROWS; ++r) {
    const int row = first + down + r;
    const int inside = p.mode == 1 && row < p.rows && column < p.outputs;
    sums[r] = ZERO;
    results[r] = inside ? y[(INDEX)row * p.y_stride + column] : ZERO;
  }
  for (int from = 0; from < p.inputs; from += TILE_INPUTS) {
    BARRIER;
    for (int at = ITEM; at < TILE_ROWS * TILE_INPUTS; at += MODEL_ITEMS) {
      const int row = first + at / TILE_INPUTS;
      x_tile[at] =
          row < p.rows ? x[(INDEX)row * p.x_stride + from + at % TILE_INPUTS] : ZERO;
    }
    for (int at = ITEM; at < TILE_INPUTS * TILE_COLUMNS; at += MODEL_ITEMS) {
      const int to = (int)GROUP(1) * TILE_COLUMNS + at % TILE_COLUMNS;
      w_tile[at] =
          to < p.outputs ? w[(INDEX)(from + at / TILE_COLUMNS) * p.outputs + to] : ZERO;
    }
    BARRIER;
    for (int i = 0; i < TILE_INPUTS; ++i) {
      const REAL weight = w_tile[i * TILE_COLUMNS + ITEM % TILE_COLUMNS];
      UNROLL for (int r = 0; r < TILE_ITEM_ROWS; ++r) {
        const REAL product = x_tile[(down + r) * TILE_INPUTS + i] * weight;
        sums[r] = sums[r] + product;
      }
    }
    if (p.mode == 1 && segment_ends[from / TILE_INPUTS])
      UNROLL for (int r = 0; r < TILE_ITEM_ROWS; ++r) {
        results[r] = results[r] + sums[r];
        sums[r] = ZERO;
      }
  }
  if (column >= p.outputs) return;
  for (int r = 0; r < TILE_ITEM_ROWS && first + down + r < p.rows; ++r) {
    REAL result = p.mode == 1 ? results[r] : sums[r];
    if (p.mode == 2) {
      const REAL input = sums[r] + b[column];
      result = input < ZERO ? ZERO : input;  // NaN stays
    }
    y[(INDEX)(first + down + r) * p.y_stride + column] = result;
  }
}

// One block of queries of one head: the weighted means of the values, mixed [rows, mixed_width].
// projected [rows, width]: q, k and v of every head side by side. blocks [groups, 3]: the first row
// of the block's sequence, how many rows that has, the first query of the block. Keys are walked
// over twice, for the maximum and for the sums, unless they fit into one tile; then values are
// summed with their weights in the order of the keys and divided once.
//
// The equal-key path: where `distinct` [rows, heads] says that a sequence has few different keys
// (equal_keys.cl), all weights are looked at first; when each is 0 or 1, the sums are those of whole
// numbers, counts and values_sums [rows, width], whose order does not matter.
//
// Group 0: a block, group 1: a head. Local memory: ROW_QUERIES * (ROW_NUMBERS + 1) + ROW_KEYS *
// (ROW_NUMBERS + 1) + ROW_QUERIES * (ROW_KEYS + 3).
KERNEL(MODEL_ITEMS)
attend_rows(GLOBAL const REAL* projected, GLOBAL const ModelHead* heads, GLOBAL const int* blocks,
            GLOBAL REAL* mixed, GLOBAL const int* distinct, GLOBAL const int* members,
            GLOBAL const REAL* counts, GLOBAL const REAL* value_sums, const int width,
            const int mixed_width, const int head_count, const int causal,
            const REAL scale LOCAL_PARAM) {
  LOCAL_DECLARE
  LOCAL REAL* q_tile = local_memory;                                // [ROW_QUERIES, ROW_NUMBERS+1]
  LOCAL REAL* k_tile = q_tile + ROW_QUERIES * (ROW_NUMBERS + 1);    // [ROW_KEYS, ROW_NUMBERS + 1]
  LOCAL REAL* weights = k_tile + ROW_KEYS * (ROW_NUMBERS + 1);      // [ROW_QUERIES, ROW_KEYS]
  LOCAL REAL* tops = weights + ROW_QUERIES * ROW_KEYS;              // [ROW_QUERIES]
  LOCAL REAL* totals = tops + ROW_QUERIES;
  LOCAL REAL* fractions = totals + ROW_QUERIES;  // of the row: a weight is neither 0 nor 1
  const ModelHead head = heads[GROUP(1)];
  const INDEX base = blocks[GROUP(0) * 3];
  const int rows = blocks[GROUP(0) * 3 + 1];
  const int first = blocks[GROUP(0) * 3 + 2];
  projected += base * width;
  mixed += base * mixed_width + head.mixed;

  // Of the sequence's keys, or, `grouped`, one of each kind.
  int grouped = distinct != 0 && distinct[base * head_count + GROUP(1)] > 0;
  int again = 1;
  while (again) {
    again = 0;
    const int kinds = grouped ? distinct[base * head_count + GROUP(1)] : rows;
    const int end = grouped || !causal ? kinds : SMALLER(first + ROW_QUERIES, rows);
    const int tiles = (end + ROW_KEYS - 1) / ROW_KEYS;
    BARRIER;
    if (ITEM < ROW_QUERIES) {
      tops[ITEM] = NOTHING_SEEN;
      totals[ITEM] = ZERO;
      fractions[ITEM] = ZERO;
    }
    for (int step = 0; step < 2 * tiles; ++step) {
      const int summing = step >= tiles;
      const int start = (summing ? step - tiles : step) * ROW_KEYS;
      if (!summing || tiles > 1) {
        REAL scores[ROW_QUERIES * ROW_KEYS / MODEL_ITEMS];
        UNROLL for (int s = 0; s < ROW_QUERIES * ROW_KEYS / MODEL_ITEMS; ++s) scores[s] = ZERO;
        for (int from = 0; from < head.d_qk; from += ROW_NUMBERS) {
          const int numbers = SMALLER(ROW_NUMBERS, head.d_qk - from);
          BARRIER;
          for (int at = ITEM; at < ROW_QUERIES * ROW_NUMBERS; at += MODEL_ITEMS) {
            const int row = first + at / ROW_NUMBERS;
            const int c = at % ROW_NUMBERS;
            q_tile[at / ROW_NUMBERS * (ROW_NUMBERS + 1) + c] =
                row < rows && c < numbers
                    ? projected[(INDEX)row * width + head.q + from + c]
                    : ZERO;
          }
          for (int at = ITEM; at < ROW_KEYS * ROW_NUMBERS; at += MODEL_ITEMS) {
            const int key = start + at / ROW_NUMBERS;
            const int c = at % ROW_NUMBERS;
            REAL number = ZERO;
            if (key < end && c < numbers) {
              const int row = grouped ? members[(base + key) * head_count + GROUP(1)] : key;
              number = projected[(INDEX)row * width + head.k + from + c];
            }
            k_tile[at / ROW_NUMBERS * (ROW_NUMBERS + 1) + c] = number;
          }
          BARRIER;
          UNROLL for (int s = 0; s < ROW_QUERIES * ROW_KEYS / MODEL_ITEMS; ++s) {
            const int pair = ITEM + s * MODEL_ITEMS;
            LOCAL const REAL* q = q_tile + pair / ROW_KEYS * (ROW_NUMBERS + 1);
            LOCAL const REAL* k = k_tile + pair % ROW_KEYS * (ROW_NUMBERS + 1);
            REAL sum = scores[s];
            for (int c = 0; c < numbers; ++c) {
              const REAL product = q[c] * k[c];
              sum = sum + product;
            }
            scores[s] = sum;
          }
        }
        BARRIER;  // the weights of the tile before have been used
        UNROLL for (int s = 0; s < ROW_QUERIES * ROW_KEYS / MODEL_ITEMS; ++s)
          weights[ITEM + s * MODEL_ITEMS] = scores[s] * scale;
      }
      BARRIER;
      // A row of scores: its maximum, or its weights and their sum. One item a row, in order.
      if (ITEM < ROW_QUERIES) {
        LOCAL REAL* row = weights + ITEM * ROW_KEYS;
        const int seen = grouped || !causal ? end : SMALLER(end, first + ITEM + 1);
        const int count = SMALLER(ROW_KEYS, seen - start);
        if (!summing) {
          REAL top = tops[ITEM];
          if (start == 0) top = row[0];
          for (int j = 0; j < count; ++j) top = LARGER(row[j], top);
          tops[ITEM] = top;
        } else {
          const REAL top = tops[ITEM];
          REAL total = totals[ITEM];
          REAL fraction = fractions[ITEM];
          for (int j = 0; j < count; ++j) {
            const REAL weight = exp_exact(row[j] - top);
            row[j] = weight;
            if (!(weight == ZERO || weight == ONE)) fraction = ONE;
            const REAL part =
                grouped ? weight * counts[(base + start + j) * head_count + GROUP(1)] : weight;
            total = total + part;
          }
          totals[ITEM] = total;
          fractions[ITEM] = fraction;
        }
      }
      BARRIER;
      if (!summing) continue;
      for (int at = ITEM; at < ROW_QUERIES * head.d_v; at += MODEL_ITEMS) {
        const int r = at / head.d_v;
        const int e = at % head.d_v;
        if (first + r >= rows) continue;
        const int seen = grouped || !causal ? end : SMALLER(end, first + r + 1);
        GLOBAL REAL* to = mixed + (INDEX)(first + r) * mixed_width + e;
        REAL sum = start == 0 ? ZERO : *to;
        for (int j = 0; j < SMALLER(ROW_KEYS, seen - start); ++j) {
          const REAL weight = weights[r * ROW_KEYS + j];
          if (weight == ZERO) continue;
          const INDEX row = (INDEX)(start + j) * width + head.v + e;
          const REAL value = grouped ? value_sums[base * width + row] : projected[row];
          const REAL product = weight * value;
          sum = sum + product;
        }
        *to = sum;
      }
    }
    BARRIER;
    if (grouped) {
      REAL fraction = ZERO;
      for (int r = 0; r < ROW_QUERIES && first + r < rows; ++r) fraction += fractions[r];
      // NaN counts as a fraction, so that it comes out as it does without groups.
      again = !(fraction == ZERO);
      grouped = 0;
    }
  }
  for (int at = ITEM; at < ROW_QUERIES * head.mixed_width; at += MODEL_ITEMS) {
    const int r = at / head.mixed_width;
    const int e = at % head.mixed_width;
    if (first + r >= rows) continue;
    GLOBAL REAL* to = mixed + (INDEX)(first + r) * mixed_width + e;
    *to = e < head.d_v ? *to / totals[r] : ZERO;  // the one division
  }
}

// The attention of one sequence's head for looking at: out [rows, rows], zeros after a causal
// query. One item a query.
KERNEL(MODEL_ITEMS)
attention_of(GLOBAL const REAL* projected, GLOBAL const ModelHead* heads, GLOBAL REAL* out,
             const int which, const int rows, const int width, const int causal,
             const REAL scale) {
  const int query = (int)GROUP(0) * MODEL_ITEMS + ITEM;
  if (query >= rows) return;
  const ModelHead head = heads[which];
  GLOBAL const REAL* q = projected + (INDEX)query * width + head.q;
  out += (INDEX)query * rows;
  const int end = causal ? query + 1 : rows;
  REAL top = NOTHING_SEEN;
  for (int j = 0; j < end; ++j) {
    GLOBAL const REAL* k = projected + (INDEX)j * width + head.k;
    REAL score = ZERO;
    for (int c = 0; c < head.d_qk; ++c) {
      const REAL product = q[c] * k[c];
      score = score + product;
    }
    score = score * scale;
    out[j] = score;
    top = j == 0 || score > top ? score : top;
  }
  REAL sum = ZERO;
  for (int j = 0; j < end; ++j) {
    const REAL weight = exp_exact(out[j] - top);
    out[j] = weight;
    sum = sum + weight;
  }
  for (int j = 0; j < rows; ++j) out[j] = j < end ? out[j] / sum : ZERO;
}
