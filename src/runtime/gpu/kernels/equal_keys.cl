// Which rows of the keys of a head are equal. Compiled heads have few different ones: scoring each
// once turns n^2 into n times their number. -0 counts as 0.
#define KEY_ITEMS 128

FUNCTION uint key_hash(GLOBAL const REAL* key, int d_qk) {
  uint hash = 2166136261u;
  for (int c = 0; c < d_qk; ++c) {
    const BITS bits = AS_BITS(key[c] + ZERO);  // -0 + 0 is 0
    hash = (hash ^ (uint)bits) * 16777619u;
#if REAL_IS_DOUBLE
    hash = (hash ^ (uint)(bits >> 32)) * 16777619u;
#endif
    hash ^= hash >> 15;
  }
  return hash;
}

FUNCTION int same_key(GLOBAL const REAL* a, GLOBAL const REAL* b, int d_qk) {
  for (int c = 0; c < d_qk; ++c)
    if (!(a[c] == b[c])) return 0;
  return 1;
}

// For each head of a sequence of many rows, the kinds of its keys in the order of their first
// member: distinct [rows, heads] at the sequence's first row how many, or 0 where they are too many
// to pay, values are no small whole numbers, or more than `most` whole numbers would not add up
// exactly; members [rows, heads] the first member of each; counts [rows, heads]; value_sums [rows,
// width], in the columns of v. sequences [groups, 2]: first row and number of rows. table [2 *
// rows, heads] is scratch, leaders [rows, heads] too. Group 0: a sequence, group 1: a head.
KERNEL(KEY_ITEMS)
equal_keys(GLOBAL const REAL* projected, GLOBAL const ModelHead* heads,
           GLOBAL const int* sequences, volatile GLOBAL int* table, volatile GLOBAL int* leaders,
           GLOBAL int* distinct, GLOBAL int* members, GLOBAL REAL* counts,
           GLOBAL REAL* value_sums, const int width, const int head_count,
           const REAL most LOCAL_PARAM) {
  LOCAL_DECLARE
  LOCAL REAL* found = local_memory;  // [KEY_ITEMS + 1]: counts of an item's stretch; unusable rows
  const ModelHead head = heads[GROUP(1)];
  const INDEX base = sequences[GROUP(0) * 2];
  const int rows = sequences[GROUP(0) * 2 + 1];
  const int h = (int)GROUP(1);
  GLOBAL const REAL* keys = projected + base * width + head.k;
  GLOBAL const REAL* values = projected + base * width + head.v;
  table += base * 2 * head_count;
  leaders += base * head_count;
  for (int at = ITEM; at < 2 * rows; at += KEY_ITEMS) table[at * head_count + h] = -1;
  for (int row = ITEM; row < rows; row += KEY_ITEMS) leaders[row * head_count + h] = rows;
  WAIT_FOR_GROUP;

  // A slot of the table holds one row of a kind: whichever came first. The kind's smallest row is
  // noted with it, so the outcome does not depend on who came first.
  REAL unusable = ZERO;
  for (int row = ITEM; row < rows; row += KEY_ITEMS) {
    GLOBAL const REAL* key = keys + (INDEX)row * width;
    uint slot = key_hash(key, head.d_qk) % (uint)(2 * rows);
    for (int tries = 0; tries < 2 * rows; ++tries) {
      const int owner = ATOMIC_COMPARE_SWAP(table + (INDEX)slot * head_count + h, -1, row);
      if (owner < 0 || owner == row || same_key(key, keys + (INDEX)owner * width, head.d_qk)) {
        const int kept = owner < 0 ? row : owner;
        ATOMIC_MIN(leaders + (INDEX)kept * head_count + h, row);
        members[(base + row) * head_count + h] = kept;
        break;
      }
      slot = (slot + 1) % (uint)(2 * rows);
    }
    for (int c = 0; c < head.d_qk; ++c)
      if (!IS_FINITE(key[c])) unusable = ONE;
    for (int e = 0; e < head.d_v; ++e) {
      const REAL value = values[(INDEX)row * width + e];
      const REAL whole = (REAL)(INTEGER)(IS_FINITE(value) && ABS(value) < most ? value : ZERO);
      if (!(whole == value) || !(ABS(value) * (REAL)rows < most)) unusable = ONE;
    }
  }
  found[ITEM] = unusable;
  WAIT_FOR_GROUP;
  REAL stopped = ZERO;
  for (int i = 0; i < KEY_ITEMS; ++i) stopped += found[i];
  WAIT_FOR_GROUP;

  // Kinds are numbered by their smallest row: a stretch of rows an item, then what is before it.
  const int stretch = (rows + KEY_ITEMS - 1) / KEY_ITEMS;
  const int from = SMALLER(ITEM * stretch, rows);
  const int to = SMALLER(from + stretch, rows);
  int own = 0;
  for (int row = from; row < to; ++row) {
    const int kept = members[(base + row) * head_count + h];
    own += leaders[kept * head_count + h] == row ? 1 : 0;
  }
  found[ITEM] = (REAL)own;
  WAIT_FOR_GROUP;
  int number = 0;
  int kinds = 0;
  for (int i = 0; i < KEY_ITEMS; ++i) {
    if (i < ITEM) number += (int)found[i];
    kinds += (int)found[i];
  }
  // Worth it from four rows a kind on.
  const int worth = stopped == ZERO && kinds * 4 <= rows;
  if (ITEM == 0) distinct[base * head_count + h] = worth ? kinds : 0;
  if (!worth) return;
  // table [0, rows): the number of a row's kind, by the row that the hash table kept;
  // table [rows, 2 rows): that kept row, since `members` is about to become the list of kinds.
  WAIT_FOR_GROUP;
  for (int row = from; row < to; ++row)
    table[(rows + row) * head_count + h] = members[(base + row) * head_count + h];
  WAIT_FOR_GROUP;
  for (int row = from; row < to; ++row) {
    const int kept = table[(rows + row) * head_count + h];
    if (leaders[kept * head_count + h] != row) continue;
    table[kept * head_count + h] = number;
    members[(base + number) * head_count + h] = row;
    ++number;
  }
  WAIT_FOR_GROUP;
  for (int at = ITEM; at < kinds * (head.d_v + 1); at += KEY_ITEMS) {
    const int kind = at / (head.d_v + 1);
    const int e = at % (head.d_v + 1);
    REAL sum = ZERO;
    for (int row = 0; row < rows; ++row) {
      const int kept = table[(rows + row) * head_count + h];
      if (table[kept * head_count + h] != kind) continue;
      sum += e == head.d_v ? ONE : values[(INDEX)row * width + e];
    }
    if (e == head.d_v)
      counts[(base + kind) * head_count + h] = sum;
    else
      value_sums[(base + kind) * width + head.v + e] = sum;
  }
}
