//! MD5 (RFC 1321), for one purpose: LLVM names a function's profile record by the low 64 bits of the MD5 of its name.

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// `IndexedInstrProf::ComputeHash` of LLVM.
pub(crate) fn low_64_bits(text: &[u8]) -> u64 {
    let state = digest(text);
    u64::from(state[0]) | u64::from(state[1]) << 32
}

fn digest(text: &[u8]) -> [u32; 4] {
    let mut padded = text.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(text.len() as u64 * 8).to_le_bytes());
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        let mut words = [0u32; 16];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        add_block(&mut state, &words);
    }
    state
}

fn add_block(state: &mut [u32; 4], words: &[u32; 16]) {
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 0..64 {
        let (mixed, word) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), 5 * step + 1),
            2 => (b ^ c ^ d, 3 * step + 5),
            _ => (c ^ (b | !d), 7 * step),
        };
        // RFC 1321, 3.4: T[i] is the integer part of 4294967296 times abs(sin(i)).
        let sine = (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
        let sum = a.wrapping_add(mixed).wrapping_add(sine).wrapping_add(words[word % 16]);
        let rotated = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4]));
        (a, d, c, b) = (d, c, b, rotated);
    }
    for (total, part) in state.iter_mut().zip([a, b, c, d]) {
        *total = total.wrapping_add(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> String {
        digest(text.as_bytes()).iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_test_suite_of_rfc_1321() {
        assert_eq!(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(
            hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a"
        );
    }
}
