//! The expansions, run on numbers, against what Rust computes.

use branchwise_program::RegisterId;
use branchwise_program::code::{BinaryOp, CastOp, CompareOp, Instruction, Operand, Width};

use super::Checked;
use crate::lower::emit::{Emitter, mask, signed};

/// Runs what was emitted after the given registers have their values.
fn run(emit: &Emitter, inputs: &[u128], result: Operand) -> u128 {
    let mut registers = vec![0u128; emit.registers.len()];
    registers[..inputs.len()].copy_from_slice(inputs);
    for instruction in &emit.instructions {
        let read = |operand: &Operand| read(&registers, *operand);
        let (out, value) = match instruction {
            Instruction::Binary(b) => (b.out, binary(b.op, b.width, read(&b.left), read(&b.right))),
            Instruction::Compare(c) => (c.out, u128::from(compare(c.op, c.width, read(&c.left), read(&c.right)))),
            Instruction::Cast(c) if c.op == CastOp::SignExtend => (c.out, signed(read(&c.value), c.from) as u128),
            Instruction::Cast(c) => (c.out, read(&c.value)),
            Instruction::Select { out, condition, then, otherwise, .. } => {
                (*out, if read(condition) == 1 { read(then) } else { read(otherwise) })
            }
            other => panic!("an expansion emits {other:?}"),
        };
        registers[out.0 as usize] = value & mask(emit.registers[out]);
    }
    read(&registers, result)
}

fn read(registers: &[u128], operand: Operand) -> u128 {
    match operand {
        Operand::Register(RegisterId(index)) => registers[index as usize],
        Operand::Constant(value) => value,
        other => panic!("an expansion reads {other:?}"),
    }
}

fn binary(op: BinaryOp, width: Width, left: u128, right: u128) -> u128 {
    let shift = || {
        assert!(right < u128::from(width), "a shift by {right} of {width} bits is undefined");
        right as u32
    };
    match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::UDiv => left / right,
        BinaryOp::SDiv => signed(left, width).checked_div(signed(right, width)).expect("no overflow") as u128,
        BinaryOp::URem => left % right,
        BinaryOp::SRem => signed(left, width).checked_rem(signed(right, width)).expect("no overflow") as u128,
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Shl => left << shift(),
        BinaryOp::LShr => left >> shift(),
        BinaryOp::AShr => (signed(left, width) >> shift()) as u128,
    }
}

fn compare(op: CompareOp, width: Width, left: u128, right: u128) -> bool {
    let (l, r) = (signed(left, width), signed(right, width));
    match op {
        CompareOp::Eq => left == right,
        CompareOp::Ne => left != right,
        CompareOp::Ult => left < right,
        CompareOp::Ule => left <= right,
        CompareOp::Ugt => left > right,
        CompareOp::Uge => left >= right,
        CompareOp::Slt => l < r,
        CompareOp::Sle => l <= r,
        CompareOp::Sgt => l > r,
        CompareOp::Sge => l >= r,
    }
}

const WIDTHS: [Width; 11] = [1, 2, 7, 8, 16, 24, 32, 63, 64, 100, 128];

/// Edge values and some in between.
fn samples(width: Width) -> Vec<u128> {
    let top = 1u128 << (width - 1);
    let mut state = 0x1234_5678_9abc_def0_0fed_cba9_8765_4321u128;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut values = vec![0, 1, 2, 3, top, top - 1, top + 1, mask(width), mask(width) - 1, top >> (width / 2)];
    values.extend((0..12).map(|_| random()));
    values.extend((0..12).map(|shift| random() >> (shift * 10)));
    values.into_iter().map(|value| value & mask(width)).collect()
}

fn check_unary(
    expand: impl Fn(&mut Emitter, Width, Operand) -> Operand,
    expected: impl Fn(Width, u128) -> u128,
    widths: &[Width],
) {
    for &width in widths {
        let mut emit = Emitter::default();
        let input = Operand::Register(emit.register(width));
        let result = expand(&mut emit, width, input);
        for value in samples(width) {
            assert_eq!(run(&emit, &[value], result), expected(width, value), "{width} bits, {value:#x}");
        }
    }
}

#[test]
fn counts() {
    check_unary(Emitter::population_count, |_, value| u128::from(value.count_ones()), &WIDTHS);
    let leading = |width: Width, value: u128| u128::from(value.leading_zeros() - (128 - width)) & mask(width);
    check_unary(Emitter::leading_zeros, leading, &WIDTHS);
    let trailing = |width: Width, value: u128| u128::from(value.trailing_zeros().min(width)) & mask(width);
    check_unary(Emitter::trailing_zeros, trailing, &WIDTHS);
}

#[test]
fn reversals() {
    check_unary(Emitter::bit_reverse, |width, value| value.reverse_bits() >> (128 - width), &WIDTHS);
    let swapped = |width: Width, value: u128| value.swap_bytes() >> (128 - width);
    check_unary(Emitter::byte_swap, swapped, &[16, 32, 48, 64, 128]);
}

#[test]
fn absolute_values() {
    let expected = |width: Width, value: u128| signed(value, width).unsigned_abs() & mask(width);
    check_unary(|emit, width, value| emit.absolute(width, value, false), expected, &WIDTHS);
}

#[test]
fn funnel_shifts() {
    for width in WIDTHS {
        for left in [true, false] {
            let mut emit = Emitter::default();
            let inputs = [(); 3].map(|()| Operand::Register(emit.register(width)));
            let result = emit.funnel_shift(width, inputs, left);
            for high in samples(width) {
                for distance in [0, 1, u128::from(width) - 1, u128::from(width), 1000].map(|d| d & mask(width)) {
                    let low = high.reverse_bits() >> (128 - width);
                    let shift = (distance % u128::from(width)) as u32;
                    let bit =
                        |position: u32| if position < width { low >> position } else { high >> (position - width) };
                    let start = if left { width - shift } else { shift };
                    let expected = (0..width).fold(0, |bits, index| bits | (bit(start + index) & 1) << index);
                    assert_eq!(
                        run(&emit, &[high, low, distance], result),
                        expected,
                        "{width} {left} {high:#x} {shift}"
                    );
                }
            }
        }
    }
}

/// The wrapped result and whether it overflowed, in more than 128 bits where needed.
fn exact(op: Checked, width: Width, left: u128, right: u128) -> (u128, bool) {
    let (l, r) = (signed(left, width), signed(right, width));
    let fits = |value: Option<i128>| value.is_some_and(|value| signed(value as u128 & mask(width), width) == value);
    let unsigned_fits = |value: Option<u128>| value.is_some_and(|value| value <= mask(width));
    let (value, fits) = match op {
        Checked::SignedAdd => (l.wrapping_add(r) as u128, fits(l.checked_add(r))),
        Checked::SignedSub => (l.wrapping_sub(r) as u128, fits(l.checked_sub(r))),
        Checked::SignedMul => (l.wrapping_mul(r) as u128, fits(l.checked_mul(r))),
        Checked::UnsignedAdd => (left.wrapping_add(right), unsigned_fits(left.checked_add(right))),
        Checked::UnsignedSub => (left.wrapping_sub(right), left >= right),
        Checked::UnsignedMul => (left.wrapping_mul(right), unsigned_fits(left.checked_mul(right))),
    };
    (value & mask(width), !fits)
}

const ALL: [Checked; 6] = [
    Checked::SignedAdd,
    Checked::SignedSub,
    Checked::SignedMul,
    Checked::UnsignedAdd,
    Checked::UnsignedSub,
    Checked::UnsignedMul,
];

#[test]
fn overflow_checks() {
    for width in WIDTHS {
        for op in ALL {
            let mut emit = Emitter::default();
            let (left, right) = (Operand::Register(emit.register(width)), Operand::Register(emit.register(width)));
            let (result, overflow) = emit.checked(op, width, left, right);
            for left in samples(width) {
                for right in samples(width) {
                    let got = (run(&emit, &[left, right], result), run(&emit, &[left, right], overflow) == 1);
                    assert_eq!(got, exact(op, width, left, right), "{op:?} {width} {left:#x} {right:#x}");
                }
            }
        }
    }
}

#[test]
fn saturation() {
    for width in WIDTHS {
        for op in [Checked::SignedAdd, Checked::SignedSub, Checked::UnsignedAdd, Checked::UnsignedSub] {
            let mut emit = Emitter::default();
            let (left, right) = (Operand::Register(emit.register(width)), Operand::Register(emit.register(width)));
            let result = emit.saturated(op, width, left, right);
            for left in samples(width) {
                for right in samples(width) {
                    let (wrapped, overflow) = exact(op, width, left, right);
                    let bound = match op {
                        Checked::UnsignedAdd => mask(width),
                        Checked::UnsignedSub => 0,
                        _ if signed(left, width) < 0 => 1 << (width - 1),
                        _ => mask(width) >> 1,
                    };
                    let expected = if overflow { bound } else { wrapped };
                    assert_eq!(run(&emit, &[left, right], result), expected, "{op:?} {width} {left:#x} {right:#x}");
                }
            }
        }
    }
}
