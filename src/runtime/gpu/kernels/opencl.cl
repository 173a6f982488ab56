// The kernels as OpenCL C 1.2.
#pragma OPENCL FP_CONTRACT OFF
#if REAL_IS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double REAL;
typedef double4 REAL4;
typedef ulong BITS;
typedef long INTEGER;
#define AS_BITS(x) as_ulong(x)
#define FROM_BITS(x) as_double(x)
#else
typedef float REAL;
typedef float4 REAL4;
typedef uint BITS;
typedef int INTEGER;
#define AS_BITS(x) as_uint(x)
#define FROM_BITS(x) as_float(x)
#endif
// Arrays of an item stay in registers only where their indices are known; a CPU has few of those,
// and its compiler takes long.
#if ON_GPU
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif
#define INDEX size_t
#define KERNEL(threads) __kernel __attribute__((reqd_work_group_size(threads, 1, 1))) void
#define FUNCTION static inline
#define GLOBAL __global
#define LOCAL __local
// Local memory whose size the host says: the last parameter, and nothing to declare.
#define LOCAL_PARAM , __local REAL* local_memory
#define LOCAL_DECLARE
#define GROUP(axis) ((INDEX)get_group_id(axis))
#define ITEM ((int)get_local_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define WAIT_FOR_GROUP barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define FMA(a, b, c) fma(a, b, c)
#define TANH(x) tanh(x)
#define ABS(x) fabs(x)
#define ATOMIC_COMPARE_SWAP(at, before, after) atomic_cmpxchg(at, before, after)
#define ATOMIC_MIN(at, value) atomic_min(at, value)
