//! Graphs across calls on the first program of Sy and Deville 2003, whose tables 1 and 2 and figure 4 they must equal. Their
//! node 9 reads two numbers; here it also tests whether they could be read, and node 10 is what follows if not. So nodes
//! from 10 on have one number more, and what depends on (4, T4) from 10a on depends on (9, F9). Node 26, the end of C, is
//! missing in their table 2.

use crate::support::folder;
use std::process::Command;

use expect_test::{Expect, expect};

const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
static int F(int i)
{
    if (i >= 0 && i <= 9)
        return i;
    else
        exit(1);
}
static void C(double *x, double *y)
{
    double t;
    if (*x > *y) {
        t = *x;
        *x = *y;
        *y = t;
    }
}
static void B(double a[10])
{
    int i, j;
    if (scanf("%d %d", &i, &j) != 2)
        exit(2);
    if (F(i) < F(j))
        C(&a[i], &a[j]);
    else
        C(&a[j], &a[i]);
}
void M(double a[10], int c)
{
    int i = 1;
    while (i <= c) {
        B(a);
        i = i + 1;
    }
}
"#;

fn map(arguments: &[&str]) -> (Option<i32>, String) {
    let folder = folder::temporary();
    std::fs::write(folder.path().join("one.c"), PROGRAM).expect("a writable folder");
    let output = Command::new(env!("CARGO_BIN_EXE_branchwise"))
        .current_dir(folder.path())
        .args(["map", "one.c"])
        .args(arguments)
        .output()
        .expect("the binary");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).expect("text"))
}

fn shows(arguments: &[&str], expected: &Expect) {
    let (code, text) = map(arguments);
    assert_eq!(code, Some(0), "{text}");
    expected.assert_eq(&text);
}

pub fn tables_1_and_2() {
    shows(
        &["--function", "M", "--graph", "dependence"],
        &expect![[r#"
        M — one.c:29 — control dependence
          within functions
            (2, true)  3, 4, 7  ← M()
            (4, T4)  4, 5a, 5b, 6  ← i <= c
            (8, true)  9, 16  ← B()
            (9, F9)  11a, 11b, 12a, 12b, 13  ← scanf("%d %d", &i, &j) != 2
            (9, T9)  10  ← scanf("%d %d", &i, &j) != 2
            (13, F13)  15a, 15b  ← F(i) < F(j)
            (13, T13)  14a, 14b  ← F(i) < F(j)
            (17, true)  18, 21  ← F()
            (18, F18)  20  ← i >= 0 && i <= 9
            (18, T18)  19  ← i >= 0 && i <= 9
            (22, true)  23, 27  ← C()
            (23, T23)  24, 25, 26  ← *x > *y
          across calls
            (2, true)  3, 4  ← M()
            (4, F4)  7  ← i <= c
            (4, T4)  5a, 8, 9  ← i <= c
            (9, F9)  11a, 17, 18  ← scanf("%d %d", &i, &j) != 2
            (9, T9)  10  ← scanf("%d %d", &i, &j) != 2
            (13, F13)  15a, 15b  ← F(i) < F(j)
            (13, T13)  14a, 14b  ← F(i) < F(j)
            (18, F18)  20  ← i >= 0 && i <= 9
            (18, T18)  4, 5b, 6, 11b, 12a, 12b, 13, 16, 17, 18, 19, 21, 22, 23, 27  ← i >= 0 && i <= 9
            (23, T23)  24, 25, 26  ← *x > *y
    "#]],
    );
}

pub fn figure_3() {
    shows(
        &["--function", "M", "--graph", "icfg"],
        &expect![[r#"
        M — one.c:29 — interprocedural control-flow graph
             1  begin                                     → 2
             2  M()                                       → 3
             3  int i = 1                                 → 4
             4  i <= c                                    T → 5a, F → 7
            5a  call of B(): B(a)                         call → 8
            5b  return to: B(a)                           → 6
             6  i = i + 1                                 → 4
             7  end of M()                                → 28
             8  B()                                       → 9
             9  scanf("%d %d", &i, &j) != 2               T → 10, F → 11a
            10  exit(2)                                   halt → 28
           11a  call of F(): F(i) < F(j)                  call → 17
           11b  return to: F(i) < F(j)                    → 12a
           12a  call of F(): F(i) < F(j)                  call → 17
           12b  return to: F(i) < F(j)                    → 13
            13  F(i) < F(j)                               T → 14a, F → 15a
           14a  call of C(): C(&a[i], &a[j])              call → 22
           14b  return to: C(&a[i], &a[j])                → 16
           15a  call of C(): C(&a[j], &a[i])              call → 22
           15b  return to: C(&a[j], &a[i])                → 16
            16  end of B()                                return → 5b
            17  F()                                       → 18
            18  i >= 0 && i <= 9                          T → 19, F → 20
            19  return i                                  → 21
            20  exit(1)                                   halt → 28
            21  end of F()                                return → 11b, return → 12b
            22  C()                                       → 23
            23  *x > *y                                   T → 24, F → 27
            24  t = *x                                    → 25
            25  *x = *y                                   → 26
            26  *y = t                                    → 27
            27  end of C()                                return → 14b, return → 15b
            28  end                                       
    "#]],
    );
}

pub fn the_decision_graph_of_node_7() {
    shows(
        &["--function", "M", "--graph", "decision", "--line", "36"],
        &expect![[r#"
        M — one.c:29 — decision graph of line 36
          decisions
            (2, true)  4  ← M()
            (4, F4)  7  ← i <= c
            (4, T4)  9  ← i <= c
            (9, F9)  18  ← scanf("%d %d", &i, &j) != 2
            (18, T18)  4  ← i >= 0 && i <= 9
    "#]],
    );
}

pub fn drawings_have_all_of_it() {
    for graph in [&["--graph", "icfg"][..], &["--graph", "dependence"], &["--graph", "decision", "--line", "36"]] {
        for form in ["--svg", "--dot", "--json"] {
            let (code, text) = map(&[&["--function", "M", form], graph].concat());
            assert_eq!(code, Some(0), "{text}");
            assert!(text.contains("end of M()"), "{graph:?} {form}");
        }
    }
}

pub fn what_is_missing_is_said() {
    let (code, text) = map(&["--graph", "icfg"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("--function NAME"), "{text}");
    let (code, text) = map(&["--function", "M", "--graph", "decision", "--line", "2"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("no statement begins on line 2"), "{text}");
    let (code, _) = map(&["--function", "M", "--graph", "decision"]);
    assert_eq!(code, Some(2));
}
