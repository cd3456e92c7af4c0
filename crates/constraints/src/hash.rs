//! A small multiplicative hasher. Term keys are a few machine words, hashed at every construction, and
//! need no defence against chosen keys; the standard hasher was most of the cost of building a term.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map for keys of a few machine words that nobody chooses to collide.
pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FastHasher>>;

/// The odd constant of Knuth's multiplicative hashing for 64 bits (2^64 / golden ratio).
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Default, Clone)]
pub struct FastHasher {
    state: u64,
}

impl FastHasher {
    fn mix(&mut self, word: u64) {
        self.state = (self.state.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);
    }
}

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        // The product leaves the low bits weak, and the low bits choose the bucket.
        self.state ^ (self.state >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_u128(&mut self, value: u128) {
        self.mix(value as u64);
        self.mix((value >> 64) as u64);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.mix(value as u64);
    }
}
