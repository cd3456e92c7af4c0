//! Functions of the C library's mathematics. They are computed by the very library that a test run uses: no other
//! implementation has the same last bits. It is asked for by name at run time, because the linker prefers Rust's own
//! versions of some of them.

use std::ffi::{CString, c_void};
use std::sync::OnceLock;

/// Declares each function once: as a variant, by its names, and with the number of its operands.
macro_rules! functions {
    ($($variant:ident $name64:literal $name32:literal $arity:literal,)*) => {
        /// A function of `math.h` on one or two floats, for both widths.
        #[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
        pub enum MathFunction { $($variant,)* }

        impl MathFunction {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub fn arity(self) -> usize {
                match self { $(Self::$variant => $arity,)* }
            }

            /// The names of the functions for `double` and for `float`.
            fn names(self) -> [&'static str; 2] {
                match self { $(Self::$variant => [$name64, $name32],)* }
            }
        }
    };
}

functions! {
    Sin "sin" "sinf" 1,
    Cos "cos" "cosf" 1,
    Tan "tan" "tanf" 1,
    Asin "asin" "asinf" 1,
    Acos "acos" "acosf" 1,
    Atan "atan" "atanf" 1,
    Sinh "sinh" "sinhf" 1,
    Cosh "cosh" "coshf" 1,
    Tanh "tanh" "tanhf" 1,
    Asinh "asinh" "asinhf" 1,
    Acosh "acosh" "acoshf" 1,
    Atanh "atanh" "atanhf" 1,
    Exp "exp" "expf" 1,
    Exp2 "exp2" "exp2f" 1,
    Expm1 "expm1" "expm1f" 1,
    Log "log" "logf" 1,
    Log2 "log2" "log2f" 1,
    Log10 "log10" "log10f" 1,
    Log1p "log1p" "log1pf" 1,
    Cbrt "cbrt" "cbrtf" 1,
    Erf "erf" "erff" 1,
    Erfc "erfc" "erfcf" 1,
    Tgamma "tgamma" "tgammaf" 1,
    Logb "logb" "logbf" 1,
    Pow "pow" "powf" 2,
    Atan2 "atan2" "atan2f" 2,
    Fmod "fmod" "fmodf" 2,
    Remainder "remainder" "remainderf" 2,
    Hypot "hypot" "hypotf" 2,
    Fdim "fdim" "fdimf" 2,
    Nextafter "nextafter" "nextafterf" 2,
}

impl MathFunction {
    /// The name of the function for `double`.
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Tells whether every library computes the same: the result is exact, or rounded once as the operators round.
    pub fn is_determined(self) -> bool {
        use MathFunction::{Fdim, Fmod, Logb, Nextafter, Remainder};
        matches!(self, Logb | Fmod | Remainder | Fdim | Nextafter)
    }

    /// The function of this name, and the width of its floats, if the library is there.
    pub fn named(name: &str) -> Option<(Self, u32)> {
        let found = Self::ALL.iter().find_map(|&function| {
            let index = function.names().iter().position(|&known| known == name)?;
            Some((function, [64, 32][index]))
        });
        found.filter(|(function, _)| function.addresses().iter().all(|&address| address != 0))
    }

    /// Where the functions for `double` and for `float` are; 0 where there is none.
    fn addresses(self) -> [usize; 2] {
        static ADDRESSES: OnceLock<Vec<[usize; 2]>> = OnceLock::new();
        let addresses = ADDRESSES.get_or_init(|| {
            let library = Library::open();
            Self::ALL.iter().map(|function| function.names().map(|name| library.address(name))).collect()
        });
        addresses[self as usize]
    }

    pub(crate) fn double(self, x: f64, y: f64) -> f64 {
        match (self.addresses()[0], self.arity()) {
            (0, _) => f64::NAN,
            // SAFETY: the library's function of this name has this type.
            (address, 1) => unsafe { std::mem::transmute::<usize, extern "C" fn(f64) -> f64>(address)(x) },
            // SAFETY: as above.
            (address, _) => unsafe { std::mem::transmute::<usize, extern "C" fn(f64, f64) -> f64>(address)(x, y) },
        }
    }

    pub(crate) fn single(self, x: f32, y: f32) -> f32 {
        match (self.addresses()[1], self.arity()) {
            (0, _) => f32::NAN,
            // SAFETY: the library's function of this name has this type.
            (address, 1) => unsafe { std::mem::transmute::<usize, extern "C" fn(f32) -> f32>(address)(x) },
            // SAFETY: as above.
            (address, _) => unsafe { std::mem::transmute::<usize, extern "C" fn(f32, f32) -> f32>(address)(x, y) },
        }
    }
}

/// The library of mathematics that programs of this machine are linked with.
struct Library(*mut c_void);

impl Library {
    fn open() -> Self {
        // SAFETY: the name is a C string; loading this library runs no code of ours.
        Library(unsafe { libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW) })
    }

    fn address(&self, name: &str) -> usize {
        let Ok(name) = CString::new(name) else { return 0 };
        if self.0.is_null() {
            return 0;
        }
        // SAFETY: the handle is open, for good, and the name is a C string.
        unsafe { libc::dlsym(self.0, name.as_ptr()) as usize }
    }
}
