//! Enumerations of operators. What is declared is in the list of all of them, so that tests which go through the list
//! leave none out.

/// Declares an enumeration with the list of its variants, in the order of their declaration. A last variant may be for
/// the operators of another enumeration, which has a list of its own.
macro_rules! operators {
    (
        $(#[$about:meta])* $name:ident,
        $(#[$about_list:meta])* $list:ident {
            $($(#[$doc:meta])* $variant:ident,)*
            $(..$(#[$others_doc:meta])* $others:ident($other:ty),)?
        }
    ) => {
        $(#[$about])*
        #[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            $($(#[$others_doc])* $others($other),)?
        }

        impl $name {
            $(#[$about_list])*
            pub const $list: [Self; [$(stringify!($variant)),*].len()] = [$(Self::$variant),*];
        }
    };
}

pub(crate) use operators;
