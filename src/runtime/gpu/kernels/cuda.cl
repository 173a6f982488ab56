// The kernels as CUDA C++, for NVRTC.
typedef unsigned char uchar;
typedef unsigned int uint;
#if REAL_IS_DOUBLE
typedef double REAL;
typedef unsigned long long BITS;
typedef long long INTEGER;
#define AS_BITS(x) ((BITS)__double_as_longlong(x))
#define FROM_BITS(x) __longlong_as_double((INTEGER)(x))
#define FMA(a, b, c) __fma_rn(a, b, c)
#define TANH(x) tanh(x)
#define ABS(x) fabs(x)
#else
typedef float REAL;
typedef unsigned int BITS;
typedef int INTEGER;
#define AS_BITS(x) __float_as_uint(x)
#define FROM_BITS(x) __uint_as_float(x)
#define FMA(a, b, c) __fmaf_rn(a, b, c)
#define TANH(x) tanhf(x)
#define ABS(x) fabsf(x)
#endif
struct __align__(16) REAL4 {
  REAL x, y, z, w;
};
// Arrays of an item stay in registers only where their indices are known.
#define UNROLL _Pragma("unroll")
#define INDEX size_t
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define FUNCTION __device__ __forceinline__
#define GLOBAL
#define LOCAL
#define LOCAL_PARAM
#define LOCAL_DECLARE                                       \
  extern __shared__ __align__(16) unsigned char shared_bytes[]; \
  REAL* local_memory = (REAL*)shared_bytes;
#define GROUP(axis) GROUP_##axis
#define GROUP_0 ((INDEX)blockIdx.x)
#define GROUP_1 ((INDEX)blockIdx.y)
#define GROUP_2 ((INDEX)blockIdx.z)
#define ITEM ((int)threadIdx.x)
#define BARRIER __syncthreads()
#define WAIT_FOR_GROUP __syncthreads()
#define ATOMIC_COMPARE_SWAP(at, before, after) atomicCAS((int*)(at), before, after)
#define ATOMIC_MIN(at, value) atomicMin((int*)(at), value)
