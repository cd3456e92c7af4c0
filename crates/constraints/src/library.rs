//! Functions of the C library's mathematics. They are computed by the very library that a test run uses: no other
//! implementation has the same last bits.

/// Declares each function once: for the linker, as a variant, by its name, and how it is called.
macro_rules! functions {
    (unary { $($one:ident $one64:ident $one32:ident,)* } binary { $($two:ident $two64:ident $two32:ident,)* }) => {
        unsafe extern "C" {
            $(safe fn $one64(x: f64) -> f64; safe fn $one32(x: f32) -> f32;)*
            $(safe fn $two64(x: f64, y: f64) -> f64; safe fn $two32(x: f32, y: f32) -> f32;)*
        }

        /// A function of `math.h` on one or two floats, for both widths.
        #[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
        pub enum MathFunction { $($one,)* $($two,)* }

        impl MathFunction {
            pub const ALL: &[Self] = &[$(Self::$one,)* $(Self::$two,)*];

            pub fn arity(self) -> usize {
                match self { $(Self::$one => 1,)* $(Self::$two => 2,)* }
            }

            /// The name of the function for `double`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$one => stringify!($one64),)* $(Self::$two => stringify!($two64),)* }
            }

            /// The function of this name, and the width of its floats.
            pub fn named(name: &str) -> Option<(Self, u32)> {
                match name {
                    $(stringify!($one64) => Some((Self::$one, 64)), stringify!($one32) => Some((Self::$one, 32)),)*
                    $(stringify!($two64) => Some((Self::$two, 64)), stringify!($two32) => Some((Self::$two, 32)),)*
                    _ => None,
                }
            }

            pub(crate) fn double(self, x: f64, y: f64) -> f64 {
                match self { $(Self::$one => $one64(x),)* $(Self::$two => $two64(x, y),)* }
            }

            pub(crate) fn single(self, x: f32, y: f32) -> f32 {
                match self { $(Self::$one => $one32(x),)* $(Self::$two => $two32(x, y),)* }
            }
        }
    };
}

functions! {
    unary {
    Sin sin sinf,
    Cos cos cosf,
    Tan tan tanf,
    Asin asin asinf,
    Acos acos acosf,
    Atan atan atanf,
    Sinh sinh sinhf,
    Cosh cosh coshf,
    Tanh tanh tanhf,
    Asinh asinh asinhf,
    Acosh acosh acoshf,
    Atanh atanh atanhf,
    Exp exp expf,
    Exp2 exp2 exp2f,
    Expm1 expm1 expm1f,
    Log log logf,
    Log2 log2 log2f,
    Log10 log10 log10f,
    Log1p log1p log1pf,
    Cbrt cbrt cbrtf,
    Erf erf erff,
    Erfc erfc erfcf,
    Tgamma tgamma tgammaf,
    Logb logb logbf,
    }
    binary {
    Pow pow powf,
    Atan2 atan2 atan2f,
    Fmod fmod fmodf,
    Remainder remainder remainderf,
    Hypot hypot hypotf,
    Fdim fdim fdimf,
    Nextafter nextafter nextafterf,
    }
}
