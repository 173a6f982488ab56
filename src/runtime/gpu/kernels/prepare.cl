// What happens to q, k and v before attention: rotation, the projections of the additive score,
// features of linear attention, a note of rows that are not finite. One item a row or number.
#define PREPARE_ITEMS 128

// bad [rows]: 1 where a row of v [rows, d_v] is not finite; any_bad [1] becomes 1 when one is.
KERNEL(PREPARE_ITEMS)
find_bad(GLOBAL const REAL* v, const int rows, const int d_v, GLOBAL uchar* bad,
         GLOBAL int* any_bad) {
  const INDEX row = GROUP(0) * PREPARE_ITEMS + ITEM;
  if (row >= (INDEX)rows) return;
  int finite = 1;
  for (int e = 0; e < d_v; ++e) finite = finite && IS_FINITE(v[row * d_v + e]);
  bad[row] = finite ? 0 : 1;
  if (!finite) any_bad[0] = 1;
}

// Rotates x [rows, d], of heads of `length` rows, in place (Su et al. 2021). pairs [positions,
// d / 2, 2]: cosine and sine, row i of a head at position offset + i.
KERNEL(PREPARE_ITEMS)
rotate_rows(GLOBAL REAL* x, GLOBAL const REAL* pairs, const int rows, const int length, const int d,
       const int offset, const int interleaved) {
  const INDEX item = GROUP(0) * PREPARE_ITEMS + ITEM;
  const INDEX row = item / (d / 2);
  const int i = (int)(item % (d / 2));
  if (row >= (INDEX)rows) return;
  const int position = (int)(row % length) + offset;
  const REAL cosine = pairs[((INDEX)position * (d / 2) + i) * 2];
  const REAL sine = pairs[((INDEX)position * (d / 2) + i) * 2 + 1];
  GLOBAL REAL* a = x + row * d + (interleaved ? 2 * i : i);
  GLOBAL REAL* b = x + row * d + (interleaved ? 2 * i + 1 : i + d / 2);
  const REAL first = *a;
  const REAL second = *b;
  *a = FMA(first, cosine, -(second * sine));
  *b = FMA(first, sine, second * cosine);
}

// y [rows, hidden] = x [rows, d] times weights [hidden, d], transposed; NaN where that is not
// finite, since tanh would hide it. Summed with the errors of its roundings (Ogita, Rump, Oishi
// 2005).
KERNEL(PREPARE_ITEMS)
project_additive(GLOBAL const REAL* x, GLOBAL const REAL* weights, GLOBAL REAL* y, const int rows,
                 const int d, const int hidden) {
  const INDEX item = GROUP(0) * PREPARE_ITEMS + ITEM;
  const INDEX row = item / hidden;
  if (row >= (INDEX)rows) return;
  GLOBAL const REAL* weight = weights + (item % hidden) * d;
  REAL sum = ZERO;
  REAL rest = ZERO;
  for (int i = 0; i < d; ++i) {
    const REAL a = x[row * d + i];
    const REAL b = weight[i];
    const REAL product = a * b;
    const REAL before = sum;
    sum = before + product;
    const REAL taken = sum - before;
    rest += (before - (sum - taken)) + (product - taken);
    rest += FMA(a, b, -product);
  }
  sum += rest;
  y[item] = IS_FINITE(sum) ? sum : NOT_A_NUMBER;
}

// elu(x) + 1 of x [rows, d], in place (Katharopoulos et al. 2020), where `map` is not 0. Rows that
// are not finite, or whose row of v [rows, d_v] is not, become NaN as a whole. v may be null.
KERNEL(PREPARE_ITEMS)
features(GLOBAL REAL* x, GLOBAL const REAL* v, const int rows, const int d, const int d_v,
         const int map, const int has_v) {
  const INDEX row = GROUP(0) * PREPARE_ITEMS + ITEM;
  if (row >= (INDEX)rows) return;
  x += row * d;
  int finite = 1;
  for (int c = 0; c < d; ++c) finite = finite && IS_FINITE(x[c]);
  if (has_v)
    for (int e = 0; e < d_v; ++e) finite = finite && IS_FINITE(v[row * d_v + e]);
  for (int c = 0; c < d; ++c) {
    REAL value = x[c];
    if (map) value = value > ZERO ? value + ONE : exp_exact(value);
    x[c] = finite ? value : NOT_A_NUMBER;
  }
}
