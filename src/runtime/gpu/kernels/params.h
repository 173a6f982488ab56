/* What the host tells a kernel: ints alone, so that every compiler lays them out alike. Read by the
   host (inside its namespace) and by the kernels, so in plain C and without includes. */

typedef struct {
  int q_heads, kv_heads, q_len, kv_len;
  int dk, d_v;     /* numbers in a row of q and k (d, or the hidden size), and of v */
  int causal;      /* 1: keys up to the query's position */
  int left, right; /* keys before and after it; -1: any */
  int hard;        /* 1: the mean over the keys of maximal score */
  int has_lengths, has_alibi;
  int mask_batch, mask_heads; /* sizes of the explicit mask; 0: none */
  int bias_batch, bias_heads; /* and of the bias */
} AttentionParams;

typedef struct {
  int q_heads, kv_heads, q_len, kv_len;
  int d, d_v;
  int causal, has_lengths;
  int chunk;  /* keys that a state comes after another; 0: no keys beyond the states */
  int chunks; /* states a head holds, the first of them empty */
} LinearParams;

typedef struct {
  int q_heads, kv_heads;
  int dk, d_v;
  int capacity; /* rows kept for each kv head */
  int count;    /* of them in use */
  int position; /* of the query */
  int window;   /* rows are a ring of so many; 0: in order */
  int splits;   /* work-groups a head */
  int hard, has_alibi;
} DecodeParams;

/* One head of a compiled model: where its parts begin in a row of projections, and in a row of
   mixed values, which is padded to whole tiles. */
typedef struct {
  int q, k, v, d_qk, d_v;
  int mixed, mixed_width;
} ModelHead;

typedef struct {
  int rows, inputs, outputs; /* inputs: a multiple of the tile */
  int x_stride, y_stride;
  int x_row, y_row; /* the first row of x and of y */
  int mode;         /* 0: y = x W;  1: y += x W, segment by segment;  2: y = relu(x W + b) */
} ProjectParams;
