// How a number of q and one of k add to a score, for the score that SCORE names.
#define SCORE_DOT 0
#define SCORE_ADDITIVE 1
#define SCORE_GAUSSIAN 2

#if SCORE == SCORE_DOT
#define ADD_TERM(sum, a, b, weight) sum = FMA(a, b, sum)
#elif SCORE == SCORE_GAUSSIAN
#define ADD_TERM(sum, a, b, weight)  \
  {                                  \
    const REAL difference = (a) - (b); \
    sum = FMA(difference, difference, sum); \
  }
#else
#define ADD_TERM(sum, a, b, weight) sum = FMA(weight, TANH((a) + (b)), sum)
#endif
