//! Goals of criteria other than `branch` that lie behind something: a hard condition, the making of objects, a caller.

use crate::support::folder;
use crate::support::tool;
use std::fs;

use expect_test::{Expect, expect};
use serde_json::Value as Json;

/// The goals of all functions of a file with this ending; a disagreement is an error.
fn check(program: (&str, &str), criterion: &str, expected: Expect) {
    let folder = folder::temporary();
    let file = folder.path().join(program.0);
    fs::write(&file, program.1).expect("the temporary folder can be written");
    let arguments = ["--criterion", criterion, "--steps", "2000", "--findings", "none"];
    let json = tool::generate(&file, &arguments, &[], folder.path()).json().expect("it runs");
    assert_eq!(json["replay"]["disagreements"], Json::Array(Vec::new()));
    let mut lines = String::new();
    let functions = json["functions"].as_array().expect("functions");
    for goal in functions.iter().flat_map(|function| function["goals"].as_array().expect("goals")) {
        let text = |key: &str| goal[key].as_str().unwrap_or_default().to_string();
        lines += &format!("{} {}: {}\n", goal["line"], text("text"), text("verdict"));
    }
    expected.assert_eq(&lines);
}

const FRAME: &str = "#include <stddef.h>

int frame(const unsigned char *bytes, size_t count, int mode) {
    unsigned sum = 0xffff;
    size_t at;
    int bit;
    if (count < 6)
        return -1;
    for (at = 0; at + 2 < count; at++) {
        sum ^= bytes[at];
        for (bit = 0; bit < 8; bit++)
            sum = sum & 1 ? sum >> 1 ^ 0xa001 : sum >> 1;
    }
    if (sum != (unsigned)(bytes[count - 2] | bytes[count - 1] << 8))
        return -2;
    if (bytes[0] == 7 && (mode > 3 || bytes[1] == 9)) {
        mode += 1;
        return mode;
    }
    return 0;
}
";

pub fn statements_behind_a_checksum_are_reached() {
    check(
        ("frame.c", FRAME),
        "statement",
        expect![[r#"
        4 unsigned sum = 0xffff: covered
        7 if (count < 6): covered
        8 return -1: covered
        9 at = 0: covered
        9 for (at + 2 < count): covered
        9 at++: covered
        10 sum ^= bytes[at]: covered
        11 bit = 0: covered
        11 for (bit < 8): covered
        11 bit++: covered
        12 sum = sum & 1 ? sum >> 1 ^ 0xa001 : sum >> 1: covered
        14 if (sum != (unsigned)(bytes[count - 2] | bytes[count - 1] << 8)): covered
        15 return -2: covered
        16 if (bytes[0] == 7 && (mode > 3 || bytes[1] == 9)): covered
        17 mode += 1: covered
        18 return mode: covered
        20 return 0: covered
    "#]],
    );
}

pub fn pairs_of_tests_behind_a_checksum_are_found() {
    check(
        ("frame.c", FRAME),
        "mcdc",
        expect![[r#"
        7 count < 6: covered
        9 at + 2 < count: covered
        11 bit < 8: covered
        12 sum & 1: covered
        14 sum != (unsigned)(bytes[count - 2] | bytes[count - 1] << 8): covered
        16 bytes[0] == 7: covered
        16 mode > 3: covered
        16 bytes[1] == 9: covered
    "#]],
    );
}

const METER: &str = "class Meter {
public:
    explicit Meter(int start) : value(start) {
        if (start < 0)
            value = 0;
    }
    ~Meter() {
        if (value > 9)
            value = 0;
    }
    void add(int more) {
        if (more > 3)
            value = value + 1;
    }
    bool full() {
        if (value > 5 && value < 9) {
            reset();
            return true;
        }
        return false;
    }

private:
    void reset() {
        value = 0;
    }
    int value;
};
";

pub fn methods_are_followed_behind_the_making_of_their_objects() {
    check(
        ("meter.cpp", METER),
        "statement",
        expect![[r#"
        3 start: covered
        4 if (start < 0): covered
        5 value = 0: covered
        8 if (value > 9): covered
        9 value = 0: covered
        12 if (more > 3): covered
        13 value = value + 1: covered
        16 if (value > 5 && value < 9): covered
        17 reset(): covered
        18 return true: covered
        20 return false: covered
        25 value = 0: covered
    "#]],
    );
}

const BOX: &str = "class Box {
public:
    static Box *none() {
        Box *box = nullptr;
        return box;
    }
    static int one() {
        Box box;
        return box.size;
    }

private:
    Box()
        : size(1) {}
    Box(int wanted)
        : size(wanted) {}
    int size;
};
";

pub fn a_constructor_is_covered_only_where_something_is_constructed() {
    check(
        ("box.cpp", BOX),
        "statement",
        expect![[r#"
        4 Box *box = nullptr: covered
        5 return box: covered
        8 Box box: covered
        9 return box.size: covered
        14 1: covered
        16 wanted: unknown
    "#]],
    );
}
