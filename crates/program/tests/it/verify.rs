//! A small program that the verifier accepts, and the ways to break it, one property each.

use branchwise_program::code::{
    Binary, BinaryOp, Block, Call, Callee, Cast, CastOp, Code, Compare, CompareOp, Edge, Function, Global, Initializer,
    Instruction, Location, Operand, Terminator,
};
use branchwise_program::map::Map;
use branchwise_program::{BlockId, CodeFunctionId, GlobalId, IdVec, MarkerId, Program, RegisterId, verify};
use expect_test::{Expect, expect};

fn register(index: u32) -> Operand {
    Operand::Register(RegisterId(index))
}

fn jump(target: u32, copies: Vec<(RegisterId, Operand)>) -> Edge {
    Edge { target: BlockId(target), copies, back: false }
}

fn block(instructions: Vec<Instruction>, terminator: Terminator) -> Block {
    let locations = vec![Some(Location { file: 0, line: 1, column: 1 }); instructions.len() + 1];
    Block { instructions, locations, terminator }
}

/// `int f(int x) { return x < 10 ? x + 1 : 7; }`, a global and a declaration.
fn program() -> Program {
    let less = Instruction::Compare(Compare {
        op: CompareOp::Slt,
        width: 32,
        out: RegisterId(1),
        left: register(0),
        right: Operand::Constant(10),
    });
    let sum = Instruction::Binary(Binary {
        op: BinaryOp::Add,
        width: 32,
        out: RegisterId(2),
        left: register(0),
        right: Operand::Constant(1),
        no_signed_wrap: true,
    });
    let branch = Terminator::Branch {
        condition: register(1),
        then: jump(1, vec![]),
        otherwise: jump(2, vec![(RegisterId(3), Operand::Constant(7))]),
    };
    let function = Function {
        name: "f".into(),
        parameters: vec![RegisterId(0)],
        registers: IdVec::from_iter([32, 1, 32, 32]),
        results: vec![32],
        variadic: false,
        library: false,
        weak: false,
        padding: Default::default(),
        blocks: IdVec::from_iter([
            block(vec![less], branch),
            block(vec![sum], Terminator::Jump(jump(2, vec![(RegisterId(3), register(2))]))),
            block(vec![], Terminator::Return(vec![register(3)])),
        ]),
    };
    let outside = Function {
        name: "outside".into(),
        parameters: vec![RegisterId(0)],
        registers: IdVec::from_iter([64]),
        results: vec![],
        variadic: false,
        library: false,
        weak: false,
        padding: Default::default(),
        blocks: IdVec::new(),
    };
    let global = Global {
        name: "g".into(),
        size: 8,
        alignment: 8,
        constant: false,
        internal: true,
        elsewhere: false,
        weak: false,
        padding: Default::default(),
        outside: Default::default(),
        initializer: Some(Initializer {
            bytes: vec![0; 8],
            addresses: vec![(0, Operand::Function(CodeFunctionId(1)))],
        }),
    };
    let code = Code {
        functions: IdVec::from_iter([function, outside]),
        globals: IdVec::from_iter([global]),
        files: vec!["a.c".into()],
    };
    Program { map: Map::default(), code }
}

fn broken(change: impl FnOnce(&mut Code), expect: Expect) {
    let mut program = program();
    change(&mut program.code);
    let error = verify(&program).expect_err("the program is broken");
    expect.assert_eq(&error.to_string());
}

fn function(code: &mut Code) -> &mut Function {
    &mut code.functions[CodeFunctionId(0)]
}

fn first_block(code: &mut Code) -> &mut Block {
    &mut function(code).blocks[BlockId(0)]
}

/// Adds an instruction at the end of the entry.
fn with(instruction: Instruction) -> impl FnOnce(&mut Code) {
    move |code| {
        let block = first_block(code);
        block.instructions.push(instruction);
        block.locations.push(None);
    }
}

#[test]
fn a_correct_program_passes_and_has_a_text_form() {
    let program = program();
    assert_eq!(verify(&program), Ok(()));
    expect![[r#"
        internal global @g: 8 bytes align 8 = zero, 0: @outside

        function @f(%0: 32) -> 32
        block0:
          %1 = compare slt 32 %0, 10
          branch %1 block1 block2(%3 = 7)
        block1:
          %2 = add nsw 32 %0, 1
          jump block2(%3 = %2)
        block2:
          return %3

        declare @outside(%0: 64)
    "#]]
    .assert_eq(&program.code.to_string());
}

#[test]
fn registers() {
    broken(
        |code| function(code).registers[RegisterId(2)] = 16,
        expect!["function @f: block1: instruction 0: %2 has 16 bits, used as 32"],
    );
    broken(|code| function(code).registers[RegisterId(2)] = 0, expect!["function @f: %2 has 0 bits"]);
    broken(|code| function(code).parameters.push(RegisterId(9)), expect!["function @f: %9 does not exist"]);
    broken(|code| function(code).parameters.push(RegisterId(0)), expect!["function @f: %0 is written twice"]);
    broken(
        |code| function(code).parameters.push(RegisterId(3)),
        expect!["function @f: block0: %3 is written by an edge too"],
    );
    broken(
        |code| function(code).parameters.clear(),
        expect!["function @f: block0: instruction 0: %0 is read but nowhere written"],
    );
}

#[test]
fn operands() {
    let store = |value, width| Instruction::Store { width, value, address: Operand::Constant(0) };
    broken(with(store(register(0), 64)), expect!["function @f: block0: instruction 1: %0 has 32 bits, used as 64"]);
    broken(
        with(store(Operand::Constant(256), 8)),
        expect!["function @f: block0: instruction 1: the constant 256 does not fit 8 bits"],
    );
    broken(with(store(Operand::Undefined, 12)), expect!["function @f: block0: instruction 1: 12 bits in memory"]);
    broken(
        with(store(Operand::Global(GlobalId(4), 0), 64)),
        expect!["function @f: block0: instruction 1: @g4 does not exist"],
    );
    broken(
        with(store(Operand::Function(CodeFunctionId(0)), 32)),
        expect!["function @f: block0: instruction 1: an address as 32 bits"],
    );
}

#[test]
fn instructions() {
    let cast = Cast { op: CastOp::Truncate, from: 32, to: 32, out: RegisterId(2), value: register(0) };
    broken(
        |code| function(code).blocks[BlockId(1)].instructions[0] = Instruction::Cast(cast),
        expect!["function @f: block1: instruction 0: truncate from 32 to 32 bits"],
    );
    let returning = |outs, callee, arguments: Vec<Operand>, argument_widths| {
        let callee = Callee::Direct(callee);
        Instruction::Call(Call { outs, callee, arguments, argument_widths, passing: vec![] })
    };
    let call = |callee, arguments, argument_widths| returning(vec![], callee, arguments, argument_widths);
    broken(
        with(call(CodeFunctionId(1), vec![], vec![])),
        expect!["function @f: block0: instruction 1: a call of @outside with other arguments"],
    );
    broken(
        |code| {
            let outs = (0..2).map(|_| function(code).registers.push(32)).collect();
            with(returning(outs, CodeFunctionId(0), vec![register(0)], vec![32]))(code);
        },
        expect!["function @f: block0: instruction 1: a call of @f with other results"],
    );
    broken(
        with(call(CodeFunctionId(1), vec![register(0)], vec![])),
        expect!["function @f: block0: instruction 1: 1 arguments, but 0 widths"],
    );
    broken(
        with(call(CodeFunctionId(7), vec![], vec![])),
        expect!["function @f: block0: instruction 1: @f7 does not exist"],
    );
    broken(
        with(Instruction::MarkSwitch { marker: MarkerId(3), value: Operand::Constant(0) }),
        expect!["function @f: block0: instruction 1: m3 does not exist"],
    );
}

#[test]
fn blocks_and_edges() {
    broken(|code| first_block(code).locations.truncate(1), expect!["function @f: block0: 1 locations, but 2 places"]);
    broken(
        |code| first_block(code).locations[0] = Some(Location { file: 1, line: 1, column: 1 }),
        expect!["function @f: block0: a location in file 1, which does not exist"],
    );
    let end = |terminator| move |code: &mut Code| function(code).blocks[BlockId(1)].terminator = terminator;
    broken(end(Terminator::Jump(jump(0, vec![]))), expect!["function @f: block1: an edge to the entry"]);
    broken(end(Terminator::Jump(jump(5, vec![]))), expect!["function @f: block1: block5 does not exist"]);
    broken(
        end(Terminator::Jump(jump(2, vec![]))),
        expect!["function @f: block1: edges to block2 write different registers"],
    );
    broken(
        end(Terminator::Jump(jump(2, vec![(RegisterId(2), register(0))]))),
        expect!["function @f: block1: %2 is written by an edge too"],
    );
    broken(
        end(Terminator::Jump(jump(2, vec![(RegisterId(3), register(1))]))),
        expect!["function @f: block1: terminator: %1 has 1 bits, used as 32"],
    );
    broken(
        end(Terminator::Return(vec![])),
        expect!["function @f: block1: terminator: 0 results, but the signature has 1"],
    );
    let edge = || jump(2, vec![(RegisterId(3), register(2))]);
    let cases = vec![(4, edge()), (4, edge())];
    broken(
        end(Terminator::Switch { value: register(0), width: 32, cases, default: edge() }),
        expect!["function @f: block1: terminator: two cases 4"],
    );
}

#[test]
fn globals_and_names() {
    broken(|code| code.globals[GlobalId(0)].size = 4, expect!["global @g: 8 initial bytes, but its size is 4"]);
    broken(|code| code.globals[GlobalId(0)].alignment = 3, expect!["global @g: alignment 3"]);
    let address = |at, operand| {
        move |code: &mut Code| {
            code.globals[GlobalId(0)].initializer =
                Some(Initializer { bytes: vec![0; 8], addresses: vec![(at, operand)] });
        }
    };
    broken(address(4, Operand::Undefined), expect!["global @g: an address at 4 of 8 bytes"]);
    broken(address(0, register(0)), expect!["global @g: no address at 0"]);
    broken(address(0, Operand::Global(GlobalId(1), 0)), expect!["global @g: @g1 does not exist"]);
    broken(|code| code.functions[CodeFunctionId(1)].name = "f".into(), expect!["two functions named @f"]);
}
