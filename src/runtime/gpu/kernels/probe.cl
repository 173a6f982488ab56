// The device's arithmetic, for tests (tests/gpu/arithmetic_test.cc).
#define PROBE_ITEMS 64

KERNEL(PROBE_ITEMS)
probe(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL const REAL* c, GLOBAL REAL* exact,
      GLOBAL REAL* quick, GLOBAL REAL* quotient, GLOBAL REAL* uncontracted, GLOBAL REAL* fused,
      GLOBAL REAL* difference, const int count) {
  const int i = (int)GROUP(0) * PROBE_ITEMS + ITEM;
  if (i >= count) return;
  exact[i] = exp_exact(a[i]);
  quick[i] = exp_nonpositive(a[i]);
  quotient[i] = b[i] / c[i];
  uncontracted[i] = b[i] * c[i] + a[i];
  fused[i] = FMA(b[i], c[i], a[i]);
  difference[i] = b[i] - c[i];
}

// Sums of rows [rows, count] in their order.
KERNEL(PROBE_ITEMS)
probe_sums(GLOBAL const REAL* x, GLOBAL REAL* sums, const int rows, const int count) {
  const int row = (int)GROUP(0) * PROBE_ITEMS + ITEM;
  if (row >= rows) return;
  REAL sum = ZERO;
  for (int i = 0; i < count; ++i) sum += x[(INDEX)row * count + i];
  sums[row] = sum;
}

// Nothing but multiplications and additions, 8 chains of `rounds` an item: how fast the device can be.
#define PEAK_ITEMS 256
KERNEL(PEAK_ITEMS)
probe_peak(GLOBAL REAL* out, const int rounds, const REAL factor, const REAL term) {
  REAL chain[8];
  UNROLL for (int c = 0; c < 8; ++c) chain[c] = (REAL)(ITEM + c);
  for (int i = 0; i < rounds; ++i)
    UNROLL for (int c = 0; c < 8; ++c) chain[c] = FMA(chain[c], factor, term);
  REAL sum = ZERO;
  UNROLL for (int c = 0; c < 8; ++c) sum += chain[c];
  out[GROUP(0) * PEAK_ITEMS + ITEM] = sum;
}
