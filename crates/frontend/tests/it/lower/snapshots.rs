//! One snapshot for each group of instructions.

use expect_test::expect;

use super::{check, lower};

#[test]
fn locations_go_through_line_markers() {
    let code = lower("# 7 \"/elsewhere/user.c\"\nint f(int x) {\n  return x + 1;\n}\n");
    assert_eq!(code.files, ["/elsewhere/user.c"]);
    expect![[r#"
        function @f(%0: 32) -> 32
        block0:
          %1 = add nsw 32 %0, 1  ; 0:8:12
          return %1  ; 0:8:3
    "#]]
    .assert_eq(&format!("{code:#}"));
}

#[test]
fn markers_branches_and_phis() {
    check(
        r#"
int trityp(int a, int b) { int r = 0; if (__bw_condition(0, a <= b)) r = a; else r = b + 1; return r; }
"#,
        expect![[r#"
            function @trityp(%0: 32, %1: 32) -> 32
            block0:
              %3 = compare sle 32 %0, %1
              %4 = zero_extend 1 -> 32 %3
              %5 = mark m0 %4
              %6 = compare ne 32 %5, 0
              branch %6 block1 block2
            block1:
              jump block3(%2 = %0)
            block2:
              %7 = add nsw 32 %1, 1
              jump block3(%2 = %7)
            block3:
              return %2
        "#]],
    );
}

#[test]
fn loop_edges_are_back_edges() {
    check(
        r#"
int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
"#,
        expect![[r#"
            function @sum(%0: 32) -> 32
            block0:
              jump block1(%1 = 0, %2 = 0)
            block1:
              %3 = compare slt 32 %1, %0
              branch %3 block2 block4
            block2:
              %4 = add nsw 32 %2, %1
              jump block3
            block3:
              %5 = add nsw 32 %1, 1
              jump block1(%1 = %5, %2 = %4) back
            block4:
              return %2
        "#]],
    );
}

#[test]
fn switches() {
    check(
        r#"
int pick(int x) { __bw_switch(0, x); switch (x) { case 1: return 10; case -2: case 3: return 20; default: return 0; } }
"#,
        expect![[r#"
            function @pick(%0: 32) -> 32
            block0:
              %2 = sign_extend 32 -> 64 %0
              mark_switch m0 %2
              switch 32 %0 1: block1, 4294967294: block2, 3: block2, default: block3
            block1:
              jump block4(%1 = 10)
            block2:
              jump block4(%1 = 20)
            block3:
              jump block4(%1 = 0)
            block4:
              return %1
        "#]],
    );
}

#[test]
fn driver_calls() {
    check(
        r#"
int f(int); void drive(void) { int a; __bw_input(&a, 0); int r = f(a); __bw_output(&r, 0, sizeof r); }
"#,
        expect![[r#"
            function @drive()
            block0:
              %0 = stack 4 x 1 align 4
              %1 = stack 4 x 1 align 4
              input 0 at %0
              %2 = load 32 %0
              %3 = call @f(%2: 32)
              store 32 %3 to %1
              output 0 at %1 size 4
              return

            declare @f(%0: 32) -> 32
        "#]],
    );
}

#[test]
fn undefined_behaviour_stays() {
    check(
        r#"
int f(int c, int *p) { int a[3]; a[5] = 1; int x; if (c) x = 5; *p; *(int *)0 = 3; return x + 1; }
"#,
        expect![[r#"
            function @f(%0: 32, %1: 64) -> 32
            block0:
              %3 = stack 12 x 1 align 4
              %4 = address %3 + 20
              store 32 1 to %4
              %5 = compare ne 32 %0, 0
              branch %5 block1 block2(%2 = undefined)
            block1:
              jump block2(%2 = 5)
            block2:
              %6 = load 32 %1
              store 32 3 to 0
              %7 = add nsw 32 %2, 1
              return %7
        "#]],
    );
}

#[test]
fn addresses_fold() {
    check(
        r#"
struct s { int a; int b[4]; char c; }; struct s table[8]; int x[10];
int *f(struct s *p, int i, unsigned j, long k) { x[3] = table[2].c; p[i].b[j] = p->b[k] + table[i].b[2]; return &p[-1].a; }
"#,
        expect![[r#"
            global @table: 192 bytes align 16 = zero
            global @x: 40 bytes align 16 = zero

            function @f(%0: 64, %1: 32, %2: 32, %3: 64) -> 64
            block0:
              %4 = load 8 @table+68
              %5 = sign_extend 8 -> 32 %4
              store 32 %5 to @x+12
              %6 = address %0 + %3:64 * 4 + 4
              %7 = load 32 %6
              %8 = address @table + %1:32 * 24 + 12
              %9 = load 32 %8
              %10 = add nsw 32 %7, %9
              %11 = zero_extend 32 -> 64 %2
              %12 = address %0 + %1:32 * 24 + %11:64 * 4 + 4
              store 32 %10 to %12
              %13 = address %0 - 24
              return %13
        "#]],
    );
}

#[test]
fn integer_casts_and_shifts() {
    check(
        r#"
_Bool f(unsigned char a, short b, long c, _Bool d) { unsigned u = a + b; long r = c >> (u & 63); d = d || r; return d ^ (u / 3 % 7 != (unsigned)(c << 2)); }
"#,
        expect![[r#"
            function @f(%0: 8, %1: 16, %2: 64, %3: 1) -> 1
            block0:
              %5 = zero_extend 1 -> 8 %3
              %6 = zero_extend 8 -> 32 %0
              %7 = sign_extend 16 -> 32 %1
              %8 = add nsw 32 %6, %7
              %9 = and 32 %8, 63
              %10 = zero_extend 32 -> 64 %9
              %11 = ashr 64 %2, %10
              %12 = truncate 8 -> 1 %5
              branch %12 block2(%4 = 1) block1
            block1:
              %13 = compare ne 64 %11, 0
              jump block2(%4 = %13)
            block2:
              %14 = zero_extend 1 -> 8 %4
              %15 = truncate 8 -> 1 %14
              %16 = zero_extend 1 -> 32 %15
              %17 = udiv 32 %8, 3
              %18 = urem 32 %17, 7
              %19 = shl 64 %2, 2
              %20 = truncate 64 -> 32 %19
              %21 = compare ne 32 %18, %20
              %22 = zero_extend 1 -> 32 %21
              %23 = xor 32 %16, %22
              %24 = compare ne 32 %23, 0
              return %24
        "#]],
    );
}

#[test]
fn wide_integers() {
    check(
        r#"
__int128 f(__int128 a) { return a * 3 + (((__int128)1) << 100) - 5; }
"#,
        expect![[r#"
            function @f(%0: 64, %1: 64) -> 64, 64
            block0:
              %2 = stack 16 x 1 align 16
              %3 = stack 16 x 1 align 16
              store 64 %0 to %3
              %4 = address %3 + 8
              store 64 %1 to %4
              %5 = load 128 %3
              %6 = mul nsw 128 %5, 3
              %7 = add nsw 128 %6, 0x10000000000000000000000000
              %8 = sub nsw 128 %7, 5
              store 128 %8 to %2
              %9 = load 64 %2
              %10 = address %2 + 8
              %11 = load 64 %10
              return %9, %11
        "#]],
    );
}

#[test]
fn pointers_as_integers() {
    check(
        r#"
#include <stdint.h>
int g; uint32_t f(int *p, intptr_t i) { int *q = (int *)(i + 8); return (uintptr_t)p == (uintptr_t)&g + 4 || q < p ? (uint32_t)(uintptr_t)p : 0; }
"#,
        expect![[r#"
            global @g: 4 bytes align 4 = zero

            function @f(%0: 64, %1: 64) -> 32
            block0:
              %3 = add nsw 64 %1, 8
              %4 = copy 64 -> 64 %3
              %5 = copy 64 -> 64 %0
              %6 = compare eq 64 %5, @g+4
              branch %6 block2 block1
            block1:
              %7 = compare ult 64 %4, %0
              branch %7 block2 block3
            block2:
              %8 = copy 64 -> 64 %0
              %9 = truncate 64 -> 32 %8
              jump block4(%2 = %9)
            block3:
              jump block4(%2 = 0)
            block4:
              return %2
        "#]],
    );
}

#[test]
fn structures_in_registers() {
    check(
        r#"
struct pair { long a, b; }; struct pair make(long); long f(struct pair p) { struct pair q = make(p.b); return q.a - p.a; }
"#,
        expect![[r#"
            function @f(%0: 64, %1: 64) -> 64
            block0:
              %2 = stack 16 x 1 align 8
              %3 = stack 16 x 1 align 8
              store 64 %0 to %2
              %4 = address %2 + 8
              store 64 %1 to %4
              %5 = address %2 + 8
              %6 = load 64 %5
              %7, %8 = call @make(%6: 64)
              store 64 %7 to %3
              %9 = address %3 + 8
              store 64 %8 to %9
              %10 = load 64 %3
              %11 = load 64 %2
              %12 = sub nsw 64 %10, %11
              return %12

            declare @make(%0: 64) -> 64, 64
        "#]],
    );
}

#[test]
fn structures_in_memory() {
    check(
        r#"
struct big { long a[5]; }; struct big g(struct big b) { b.a[0] = 1; return b; } long f(struct big *b) { struct big r = g(*b); return r.a[0]; }
"#,
        expect![[r#"
            function @g(%0: 64, %1: 64)
            block0:
              %2 = stack 40 x 1 align 8
              copy_memory %2 from %1 size 40
              store 64 1 to %2
              copy_memory %0 from %2 size 40
              return

            function @f(%0: 64) -> 64
            block0:
              %1 = stack 40 x 1 align 8
              call @g(%1: 64, %0: 64)
              %2 = load 64 %1
              return %2
        "#]],
    );
}

#[test]
fn vectors() {
    check(
        r#"
typedef int v4 __attribute__((vector_size(16))); typedef long v2 __attribute__((vector_size(16)));
int f(v4 *p, v4 b) { v4 a = *p; a = a + b; a[1] = 7; v4 c = a > b; *p = __builtin_shufflevector(a, c, 0, 5, 2, -1); return ((v2)a)[1]; }
"#,
        expect![[r#"
            function @f(%0: 64, %1: 32, %2: 32, %3: 32, %4: 32) -> 32
            block0:
              %5 = load 32 %0
              %6 = address %0 + 4
              %7 = load 32 %6
              %8 = address %0 + 8
              %9 = load 32 %8
              %10 = address %0 + 12
              %11 = load 32 %10
              %12 = add 32 %5, %1
              %13 = add 32 %7, %2
              %14 = add 32 %9, %3
              %15 = add 32 %11, %4
              %16 = compare sgt 32 %12, %1
              %17 = compare sgt 32 7, %2
              %18 = compare sgt 32 %14, %3
              %19 = compare sgt 32 %15, %4
              %20 = sign_extend 1 -> 32 %16
              %21 = sign_extend 1 -> 32 %17
              %22 = sign_extend 1 -> 32 %18
              %23 = sign_extend 1 -> 32 %19
              store 32 %12 to %0
              %24 = address %0 + 4
              store 32 %21 to %24
              %25 = address %0 + 8
              store 32 %14 to %25
              %26 = address %0 + 12
              store 32 undefined to %26
              %27 = zero_extend 32 -> 64 %12
              %28 = or 64 %27, 0x700000000
              %29 = zero_extend 32 -> 64 %14
              %30 = zero_extend 32 -> 64 %15
              %31 = shl 64 %30, 32
              %32 = or 64 %29, %31
              %33 = truncate 64 -> 32 %32
              return %33
        "#]],
    );
}

#[test]
fn globals() {
    check(
        r#"
struct n { char c; int i; struct n *next; const char *s; }; extern int outside; extern int table[];
static struct n last = { 'z', -1, 0, "end\n" }; struct n first = { 'a', 0x01020304, &last, 0 };
const double d = 1.5; float fs[2] = { -0.0f, 2 }; int zero[100]; int (*op)(int); int *into = &table[3]; int h(int); int (*ops[])(int) = { h, 0 };
_Thread_local int t = 4; union { char c[4]; int i; } u = { { 1, 2 } }; unsigned short w[] = { L'x', 0xffff }; struct { int a : 3, b : 7; } bits = { -1, 5 };
int *f(void) { t = outside; return &last.i; }
"#,
        expect![[r#"
            internal global @last: 24 bytes align 8 = "z\x00\x00\x00\xff\xff\xff\xff", 16: @.str
            global @first: 24 bytes align 8 = "a\x00\x00\x00\x04\x03\x02\x01", 8: @last
            constant @d: 8 bytes align 8 = "\x00\x00\x00\x00\x00\x00\xf8?"
            global @fs: 8 bytes align 4 = "\x00\x00\x00\x80\x00\x00\x00@"
            global @table: 0 bytes align 4 declared
            global @into: 8 bytes align 8 = zero, 0: @table+12
            global @ops: 16 bytes align 16 = zero, 0: @h
            global @t: 4 bytes align 4 = "\x04"
            global @u: 4 bytes align 4 = "\x01\x02"
            global @w: 4 bytes align 2 = "x\x00\xff\xff"
            global @bits: 4 bytes align 4 = "/"
            global @outside: 4 bytes align 4 declared
            global @zero: 400 bytes align 16 = zero
            global @op: 8 bytes align 8 = zero
            internal constant @.str: 5 bytes align 1 = "end\n"

            declare @h(%0: 32) -> 32

            function @f() -> 64
            block0:
              %0 = load 32 @outside
              store 32 %0 to @t
              return @last+4
        "#]],
    );
}

#[test]
fn long_doubles_and_wide_constants() {
    check(
        r#"
long double l = -1.5L; __int128 w = -2; _BitInt(70) b = -3; _Complex float c = 1.0f; double f(void) { return 0.1; }
"#,
        expect![[r#"
            global @l: 16 bytes align 16 = "\x00\x00\x00\x00\x00\x00\x00\xc0\xff\xbf"
            global @w: 16 bytes align 16 = "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
            global @b: 16 bytes align 8 = "\xfd\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
            global @c: 8 bytes align 4 = "\x00\x00\x80?"

            function @f() -> 64
            block0:
              return 0x3fb999999999999a
        "#]],
    );
}

#[test]
fn aliases() {
    check(
        r#"
int real(int x) { return x; } int other(int) __attribute__((alias("real"))); int v = 3; extern int also __attribute__((alias("v"))); int f(void) { return other(also); }
"#,
        expect![[r#"
            global @v: 4 bytes align 4 = "\x03"

            function @real(%0: 32) -> 32
            block0:
              return %0

            function @f() -> 32
            block0:
              %0 = load 32 @v
              %1 = call @real(%0: 32)
              return %1
        "#]],
    );
}

#[test]
fn memory_intrinsics() {
    check(
        r#"
struct s { char c[100]; }; void f(struct s *a, struct s *b, unsigned n) { *a = *b; struct s z = { 0 }; *b = z; __builtin_memmove(a, b, n); }
"#,
        expect![[r#"
            function @f(%0: 64, %1: 64, %2: 32)
            block0:
              %3 = stack 100 x 1 align 1
              copy_memory %0 from %1 size 100
              set_memory %3 byte 0 size 100
              copy_memory %1 from %3 size 100
              %4 = zero_extend 32 -> 64 %2
              copy_memory %0 from %1 size %4
              return
        "#]],
    );
}

#[test]
fn variable_length_arrays() {
    check(
        r#"
int f(int n) { int a[n]; a[n - 1] = 4; return a[0]; }
"#,
        expect![[r#"
            function @f(%0: 32) -> 32
            block0:
              %1 = zero_extend 32 -> 64 %0
              %2 = stack 4 x %1 align 16
              %3 = sub nsw 32 %0, 1
              %4 = address %2 + %3:32 * 4
              store 32 4 to %4
              %5 = load 32 %2
              return %5
        "#]],
    );
}

#[test]
fn indirect_calls_and_variadic_calls() {
    check(
        r#"
int printf(const char *, ...); int f(int (*op)(int, char), double d) { printf("%f %d\n", d, 3); return op(1, 'c'); }
"#,
        expect![[r#"
            internal constant @.str: 7 bytes align 1 = "%f %d\n"

            function @f(%0: 64, %1: 64) -> 32
            block0:
              call @printf(@.str: 64, %1: 64, 3: 32)
              %2 = call indirect %0(1: 32, 99: 8)
              return %2

            declare @printf(%0: 64, ...) -> 32
        "#]],
    );
}

#[test]
fn traps_and_hints() {
    check(
        r#"
int f(int x) { if (__builtin_expect(x, 1)) __builtin_trap(); if (x == 2) __builtin_debugtrap(); __asm__ volatile("" ::: "memory"); __asm__ volatile("" : "+r"(x)); if (__builtin_constant_p(x)) x = __builtin_object_size(&x, 0); __builtin_unreachable(); }
"#,
        expect![[r#"
            function @f(%0: 32) -> 32
            block0:
              %1 = sign_extend 32 -> 64 %0
              %2 = compare ne 64 %1, 0
              branch %2 block1 block2
            block1:
              call @llvm.trap()
              jump block2
            block2:
              %3 = compare eq 32 %0, 2
              branch %3 block3 block4
            block3:
              call @llvm.trap()
              jump block4
            block4:
              branch 0 block5 block6
            block5:
              jump block6
            block6:
              unreachable

            declare @llvm.trap()
        "#]],
    );
}

#[test]
fn atomics() {
    check(
        r#"
_Atomic int a; int f(int x) { int e = 3; __atomic_fetch_add((int *)&a, x, 5); __atomic_fetch_max((int *)&a, x, 5); __sync_synchronize(); a = x; return __atomic_compare_exchange_n((int *)&a, &e, x, 0, 5, 5) + a; }
"#,
        expect![[r#"
            global @a: 4 bytes align 4 = zero

            function @f(%0: 32) -> 32
            block0:
              atomic @a
              %1 = load 32 @a
              %2 = add 32 %1, %0
              store 32 %2 to @a
              atomic @a
              %3 = load 32 @a
              %4 = compare sgt 32 %3, %0
              %5 = select 32 %4, %3, %0
              store 32 %5 to @a
              store 32 %0 to @a
              atomic @a
              %6 = load 32 @a
              %7 = compare eq 32 %6, 3
              %8 = select 32 %7, %0, %6
              store 32 %8 to @a
              branch %7 block2 block1
            block1:
              jump block2
            block2:
              %9 = zero_extend 1 -> 8 %7
              %10 = truncate 8 -> 1 %9
              %11 = zero_extend 1 -> 32 %10
              atomic @a
              %12 = load 32 @a
              %13 = add nsw 32 %11, %12
              return %13
        "#]],
    );
}

#[test]
fn floats_move_as_bits() {
    check(
        r#"
float g; double f(float x, int c, double *p) { g = x; double d = c ? *p : -*p; *p = __builtin_fabs(d); return d; }
"#,
        expect![[r#"
            global @g: 4 bytes align 4 = zero

            function @f(%0: 32, %1: 32, %2: 64) -> 64
            block0:
              store 32 %0 to @g
              %4 = compare ne 32 %1, 0
              branch %4 block1 block2
            block1:
              %7 = load 64 %2
              jump block3(%3 = %7)
            block2:
              %5 = load 64 %2
              %6 = xor 64 %5, 0x8000000000000000
              jump block3(%3 = %6)
            block3:
              %8 = and 64 %3, 0x7fffffffffffffff
              store 64 %8 to %2
              return %3
        "#]],
    );
}

#[test]
fn unsupported() {
    check(
        r#"
#include <stdarg.h>
double f(double a, float b) { return a + b; } int less(double a, double b) { return a < b; } int of(double a) { return (int)a; }
int v(int n, ...) { va_list l; va_start(l, n); int r = va_arg(l, int); va_end(l); return r; }
int c(int i) { static void *t[] = { &&a, &&b }; goto *t[i]; a: return 1; b: return 2; }
unsigned s(void) { unsigned r; __asm__("mov $1, %0" : "=r"(r)); return r; } double root(double x) { return __builtin_sqrt(x); }
_BitInt(256) wide(_BitInt(256) x) { return x + 1; }
"#,
        expect![[r#"
            internal global @c.t: 16 bytes align 16 = zero, 0: @labels of c+1, 8: @labels of c+2
            internal constant @labels of c: 5 bytes align 1 = zero

            function @f(%0: 64, %1: 32) -> 64
            block0:
              %2 = float convert 32 -> 64 %1
              %3 = float add 64 %0, %2
              return %3

            function @less(%0: 64, %1: 64) -> 32
            block0:
              %2 = float compare olt 64 %0, %1
              %3 = zero_extend 1 -> 32 %2
              return %3

            function @of(%0: 64) -> 32
            block0:
              %1 = float to_signed 64 -> 32 %0
              return %1

            function @v(%0: 32, ...) -> 32
            block0:
              %2 = stack 24 x 1 align 16
              variadic_start %2
              %3 = load 32 %2
              %4 = compare ule 32 %3, 40
              branch %4 block1 block2
            block1:
              %8 = address %2 + 16
              %9 = load 64 %8
              %10 = address %9 + %3:32 * 1
              %11 = add 32 %3, 8
              store 32 %11 to %2
              jump block3(%1 = %10)
            block2:
              %5 = address %2 + 8
              %6 = load 64 %5
              %7 = address %6 + 8
              store 64 %7 to %5
              jump block3(%1 = %6)
            block3:
              %12 = load 32 %1
              return %12

            function @c(%0: 32) -> 32
            block0:
              %3 = address @c.t + %0:32 * 8
              %4 = load 64 %3
              jump block4(%1 = %4)
            block1:
              jump block3(%2 = 1)
            block2:
              jump block3(%2 = 2)
            block3:
              return %2
            block4:
              %5 = sub 64 %1, @labels of c
              switch 64 %5 1: block1, 2: block2, default: block5
            block5:
              unreachable

            function @s() -> 32
            block0:
              unsupported "inline assembly"
              return undefined

            function @root(%0: 64) -> 64
            block0:
              %1 = call @sqrt(%0: 64)
              return %1

            declare @sqrt(%0: 64) -> 64

            function @wide(%0: 64, %1: 64)
            block0:
              %2 = stack 32 x 1 align 16
              copy_memory %2 from %1 size 32
              %3 = load 64 %2
              %4 = address %2 + 8
              %5 = load 64 %4
              %6 = address %2 + 16
              %7 = load 64 %6
              %8 = address %2 + 24
              %9 = load 64 %8
              unsupported "arithmetic on integers of more than 128 bits"
              store 64 undefined to %0
              %10 = address %0 + 8
              store 64 undefined to %10
              %11 = address %0 + 16
              store 64 undefined to %11
              %12 = address %0 + 24
              store 64 undefined to %12
              %13 = load 64 %0
              %14 = address %0 + 8
              %15 = load 64 %14
              %16 = address %0 + 16
              %17 = load 64 %16
              %18 = address %0 + 24
              %19 = load 64 %18
              store 64 %13 to %0
              %20 = address %0 + 8
              store 64 %15 to %20
              %21 = address %0 + 16
              store 64 %17 to %21
              %22 = address %0 + 24
              store 64 %19 to %22
              return
        "#]],
    );
}

/// What they compute is tested beside the expansions; here: clang's names for them are all known.
#[test]
fn integer_builtins_are_expanded() {
    let code = lower(
        "int counts(unsigned a, unsigned long b) { return __builtin_popcount(a) + __builtin_clz(a) + __builtin_ctzl(b); }
         unsigned swap(unsigned short a, unsigned b) { return __builtin_bswap16(a) + __builtin_bswap32(b); }
         unsigned char reverse(unsigned char a) { return __builtin_bitreverse8(a); }
         unsigned turn(unsigned a, unsigned n) { return __builtin_rotateleft32(a, n) + __builtin_rotateright32(a, n); }
         int add(int a, int b) { int r; return __builtin_add_overflow(a, b, &r) ? -1 : r; }
         int sub(unsigned a, unsigned b) { unsigned r; return __builtin_sub_overflow(a, b, &r) ? -1 : r; }
         long mul(long a, long b) { long r; return __builtin_mul_overflow(a, b, &r) ? -1 : r; }
         int mixed(int a, unsigned b) { short r; return __builtin_mul_overflow(a, b, &r) ? -1 : r; }
         int least(int a, int b) { return __builtin_elementwise_min(a, __builtin_elementwise_abs(b)); }
         int most(unsigned a, unsigned b) { return __builtin_elementwise_max(a, __builtin_elementwise_sub_sat(a, b)); }
         int absolute(int a) { return __builtin_abs(a); }",
    );
    let text = code.to_string();
    assert!(!text.contains("unsupported") && !text.contains("declare"), "{text}");
}

#[test]
fn old_style_calls_that_do_not_fit_end_their_path() {
    let code = lower("int f(); int g(void) { return f(1); } int f(a, b) long a; int b; { return b; }");
    assert!(code.to_string().contains("unsupported \"a call of f with other types than it has\""), "{code}");
}
