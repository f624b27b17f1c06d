//! Numbers of every width, as `f64`.

use half::f16;

/// A number that can be a score.
pub(crate) trait Number: Copy {
    /// Its value; integers beyond 2^53 are rounded.
    fn value(self) -> f64;
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Number for $type {
            #[inline]
            fn value(self) -> f64 {
                self as f64
            }
        })*
    };
}

numbers!(f32, f64, i8, i16, i32, i64, u8, u16, u32, u64);

impl Number for f16 {
    #[inline]
    fn value(self) -> f64 {
        self.to_f64()
    }
}
