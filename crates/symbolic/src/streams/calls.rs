//! The functions of `stdio.h`, by name.

use std::collections::VecDeque;

use branchwise_constraints::{CompareOp, TermId};
use branchwise_program::assumption::catalogue::{INPUT_DOES_NOT_FAIL, INPUT_ENDS_ONCE, NO_FILES, READS_ARE_WHOLE};
use branchwise_program::library::is_stream_function;
use branchwise_program::{CodeFunctionId, RegisterId};

use crate::executor::{Executor, Step};
use crate::memory::{Contents, Origin};
use crate::path::FaultKind;
use crate::session::{FILE_SIZE, Stream};
use crate::streams::arguments::Arguments;
use crate::streams::given::Direction;
use crate::streams::scan::Source;
use crate::value::{ObjectId, Pointer, Value};

/// End of file, or an error.
const EOF: u64 = 0xffff_ffff;

/// One call: its arguments, and whether the program looks at the result.
struct StreamCall<'a> {
    arguments: &'a [Value],
    asked: bool,
}

impl StreamCall<'_> {
    fn argument(&self, index: usize) -> Value {
        self.arguments.get(index).cloned().unwrap_or(Value::Undefined)
    }

    /// The variable arguments, from this one on.
    fn variable(&self, from: usize) -> Arguments {
        Arguments::Given(self.arguments.iter().skip(from).cloned().collect::<VecDeque<_>>())
    }

    fn listed(&self, index: usize) -> Arguments {
        Arguments::List(self.argument(index))
    }
}

impl Executor<'_, '_> {
    /// The result of a function of `stdio.h`; `None` if it is no such function.
    pub(crate) fn call_stream(
        &mut self,
        callee: CodeFunctionId,
        arguments: &[Value],
        outs: &[RegisterId],
    ) -> Step<Option<Value>> {
        if !is_stream_function(&self.code.functions[callee].name) {
            return self.call_stream_primitive(callee, arguments);
        }
        let call = StreamCall { arguments, asked: !outs.is_empty() };
        let name = self.code.functions[callee].name.as_str();
        let found = match name {
            "getchar" | "getchar_unlocked" | "getc" | "fgetc" | "_IO_getc" | "getc_unlocked" | "fgetc_unlocked"
            | "ungetc" | "fgets" | "fgets_unlocked" | "gets" | "fread" | "fread_unlocked" | "feof"
            | "feof_unlocked" | "ferror" | "ferror_unlocked" | "clearerr" | "clearerr_unlocked" | "read" => {
                self.call_input(name, &call)?
            }
            "scanf" | "fscanf" | "sscanf" | "vscanf" | "vfscanf" | "vsscanf" | "__isoc99_scanf" | "__isoc99_fscanf"
            | "__isoc99_sscanf" | "__isoc99_vscanf" | "__isoc99_vfscanf" | "__isoc99_vsscanf" => {
                self.call_scan(name.trim_start_matches("__isoc99_"), &call)?
            }
            "printf" | "vprintf" | "fprintf" | "vfprintf" | "dprintf" => self.call_print(name, &call)?,
            "sprintf" | "vsprintf" | "snprintf" | "vsnprintf" => self.call_print_to(name, &call)?,
            _ => match self.call_output(name, &call)? {
                Some(value) => value,
                None => return Ok(None),
            },
        };
        Ok(Some(found))
    }

    fn call_input(&mut self, name: &str, call: &StreamCall<'_>) -> Step<Value> {
        let stream = match name {
            "getchar" | "getchar_unlocked" | "gets" | "read" => None,
            "ungetc" => Some(1),
            "fgets" | "fgets_unlocked" => Some(2),
            "fread" | "fread_unlocked" => Some(3),
            _ => Some(0),
        };
        let asks = ["feof", "ferror", "clearerr"].iter().any(|asks| name.starts_with(asks));
        match stream {
            None => self.select_standard_input(),
            Some(index) => match self.stream(&call.argument(index))?.0 {
                Stream::Input => self.select_standard_input(),
                Stream::Given(shape) => self.select_given(shape, (!asks).then_some(Direction::Reading))?,
                _ if name.starts_with("ferror") => {
                    self.note_failing_standard_stream();
                    return Ok(Value::Bits(0));
                }
                _ => return self.unsupported(format!("'{name}' on an output stream")),
            },
        }
        self.note_failing_input(name);
        if name == "read" {
            return self.call_read(call);
        }
        self.input.buffered = true;
        match name {
            "ungetc" => self.call_unget(call),
            "fgets" | "fgets_unlocked" => self.call_fgets(call),
            "gets" => self.take_line(&call.argument(0), None),
            "fread" | "fread_unlocked" => self.call_fread(call),
            "feof" | "feof_unlocked" => Ok(Value::Bits(u64::from(self.end_was_seen()?))),
            "ferror" | "ferror_unlocked" => Ok(Value::Bits(u64::from(self.error_was_seen()?))),
            "clearerr" | "clearerr_unlocked" => {
                self.forget_end()?;
                Ok(Value::Undefined)
            }
            _ => {
                let byte = self.take_byte()?;
                Ok(self.character_or_end(byte))
            }
        }
    }

    /// In tests, standard input ends once and never fails, and `read` gets all that is there.
    fn note_failing_input(&mut self, name: &str) {
        if self.input.shape.is_some() {
            return;
        }
        let asks = name.starts_with("feof") || name.starts_with("ferror");
        if asks || name == "read" || self.input.end_seen {
            self.rest_on(INPUT_DOES_NOT_FAIL.assumed());
        }
        if name == "read" {
            self.rest_on(READS_ARE_WHOLE.assumed());
        }
        if name == "read" && self.input.used {
            self.rest_on(INPUT_ENDS_ONCE.assumed());
        }
    }

    fn character_or_end(&mut self, byte: Option<TermId>) -> Value {
        match byte {
            Some(byte) => {
                let character = self.session.terms.zero_extend(byte, 32);
                self.term_value(character)
            }
            None => Value::Bits(EOF),
        }
    }

    fn call_unget(&mut self, call: &StreamCall<'_>) -> Step<Value> {
        let value = call.argument(0);
        let term = self.as_term(&value, 32);
        let end = self.session.terms.constant(u128::from(EOF), 32);
        let is_end = self.session.terms.compare(CompareOp::Eq, term, end);
        if self.holds(is_end)? {
            return Ok(Value::Bits(EOF));
        }
        let byte = self.session.terms.extract(term, 0, 8);
        self.unget(byte)?;
        Ok(self.character_or_end(Some(byte)))
    }

    fn call_fgets(&mut self, call: &StreamCall<'_>) -> Step<Value> {
        let size = self.concretise(&call.argument(1), 32)? as i32;
        if size <= 0 {
            return Ok(Value::Bits(0));
        }
        self.take_line(&call.argument(0), Some(size as u64 - 1))
    }

    /// Reads up to and with a newline, at most this many bytes; without a limit (`gets`) the newline is dropped.
    fn take_line(&mut self, target: &Value, most: Option<u64>) -> Step<Value> {
        let mut at = 0;
        while most.is_none_or(|most| at < most) {
            let Some(byte) = self.take_byte()? else {
                // After an error, what was read before it is no line.
                if at == 0 || self.ended_by_error()? {
                    return Ok(Value::Bits(0));
                }
                break;
            };
            let is_newline = self.is_byte(byte, b'\n');
            let is_newline = self.holds(is_newline)?;
            if !is_newline || most.is_some() {
                self.store_byte(target, at, byte)?;
                at += 1;
            }
            if is_newline {
                break;
            }
        }
        let end = self.session.terms.constant(0, 8);
        self.store_byte(target, at, end)?;
        Ok(*target)
    }

    fn call_fread(&mut self, call: &StreamCall<'_>) -> Step<Value> {
        let (size, count) = (self.concretise(&call.argument(1), 64)?, self.concretise(&call.argument(2), 64)?);
        if size == 0 || count == 0 {
            return Ok(Value::Bits(0));
        }
        let taken = self.take_block(&call.argument(0), size.saturating_mul(count))?;
        Ok(Value::Bits(taken / size))
    }

    /// `read` sees what the C library has not read yet, which is only known before the library reads anything.
    fn call_read(&mut self, call: &StreamCall<'_>) -> Step<Value> {
        let (descriptor, size) = (self.concretise(&call.argument(0), 32)?, self.concretise(&call.argument(2), 64)?);
        if descriptor != 0 {
            return self.unsupported("'read' from another file than standard input");
        }
        if self.input.buffered {
            return self.unsupported("'read' from standard input after functions of stdio.h");
        }
        Ok(Value::Bits(self.take_block(&call.argument(1), size)?))
    }

    fn take_block(&mut self, target: &Value, size: u64) -> Step<u64> {
        let mut taken = 0;
        while taken < size {
            let Some(byte) = self.take_byte()? else { break };
            self.store_byte(target, taken, byte)?;
            taken += 1;
        }
        Ok(taken)
    }

    fn call_scan(&mut self, name: &str, call: &StreamCall<'_>) -> Step<Value> {
        let listed = name.starts_with('v');
        let name = name.trim_start_matches('v');
        let format_at = usize::from(name != "scanf");
        let source = match name {
            "sscanf" => {
                self.require_string(&call.argument(0))?;
                Source::Text { address: call.argument(0), at: 0 }
            }
            "fscanf" => {
                match self.stream(&call.argument(0))?.0 {
                    Stream::Input => self.select_standard_input(),
                    Stream::Given(shape) => self.select_given(shape, Some(Direction::Reading))?,
                    _ => return self.unsupported("'fscanf' on an output stream"),
                }
                Source::Stream
            }
            _ => {
                self.select_standard_input();
                Source::Stream
            }
        };
        self.input.buffered |= name != "sscanf";
        let format = self.known_text(&call.argument(format_at), "a format of scanf")?;
        let arguments = if listed { call.listed(format_at + 1) } else { call.variable(format_at + 1) };
        let result = self.scan(source, &format, arguments)?;
        Ok(Value::Bits(u64::from(result as u32)))
    }

    fn call_print(&mut self, name: &str, call: &StreamCall<'_>) -> Step<Value> {
        let format_at = usize::from(!matches!(name, "printf" | "vprintf"));
        let stream = match name {
            "fprintf" | "vfprintf" => self.require_output(name, &call.argument(0))?,
            _ => Stream::Output,
        };
        let listed = name.starts_with('v');
        let arguments = if listed { call.listed(format_at + 1) } else { call.variable(format_at + 1) };
        let printed = self.printed(&call.argument(format_at), arguments)?;
        let given = matches!(stream, Stream::Given(_));
        if call.asked && !given {
            self.note_failing_standard_stream();
        }
        let count = self.print_nowhere(printed, call.asked || given)?;
        if let (true, Some(count)) = (given, count) {
            let length = self.session.terms.zero_extend(count, 64);
            if !self.put_to_given(length, call.asked)? {
                return Ok(Value::Bits(EOF));
            }
        }
        Ok(count.map_or(Value::Bits(0), |count| self.term_value(count)))
    }

    fn call_print_to(&mut self, name: &str, call: &StreamCall<'_>) -> Step<Value> {
        let limited = name.ends_with("snprintf");
        let format_at = if limited { 2 } else { 1 };
        let listed = name.starts_with('v');
        let arguments = if listed { call.listed(format_at + 1) } else { call.variable(format_at + 1) };
        let room = if limited { self.concretise(&call.argument(1), 64)? } else { u64::MAX };
        let printed = self.printed(&call.argument(format_at), arguments)?;
        let characters = self.characters(printed)?;
        let target = call.argument(0);
        if room > 0 {
            let kept = (characters.len() as u64).min(room - 1);
            for (at, &byte) in characters[..kept as usize].iter().enumerate() {
                self.store_byte(&target, at as u64, byte)?;
            }
            let end = self.session.terms.constant(0, 8);
            self.store_byte(&target, kept, end)?;
        }
        Ok(Value::Bits(characters.len() as u64))
    }

    /// What else writes or is said to a stream; `None` if it does neither.
    fn call_output(&mut self, name: &str, call: &StreamCall<'_>) -> Step<Option<Value>> {
        if call.asked && matches!(name, "putchar" | "putchar_unlocked" | "puts") {
            self.note_failing_standard_stream();
        }
        Ok(Some(match name {
            "putchar" | "putchar_unlocked" => self.printed_character(call),
            "putc" | "fputc" | "_IO_putc" | "putc_unlocked" | "fputc_unlocked" => {
                let stream = self.require_output(name, &call.argument(1))?;
                let one = self.session.terms.constant(1, 64);
                match self.put(stream, one, call.asked)? {
                    true => self.printed_character(call),
                    false => Value::Bits(EOF),
                }
            }
            "puts" => {
                let length = self.text_length(&call.argument(0), None)?;
                let one = self.session.terms.constant(1, 64);
                let length = self.session.terms.add(length, one);
                let length = self.session.terms.extract(length, 0, 32);
                self.term_value(length)
            }
            "fputs" | "fputs_unlocked" => {
                let stream = self.require_output(name, &call.argument(1))?;
                let length = self.text_length(&call.argument(0), None)?;
                Value::Bits(if self.put(stream, length, call.asked)? { 1 } else { EOF })
            }
            "fwrite" | "fwrite_unlocked" => self.call_fwrite(name, call)?,
            "fclose" => {
                let (stream, object) = self.stream(&call.argument(0))?;
                let closed = match stream {
                    Stream::Input => return self.unsupported("'fclose' on standard input"),
                    Stream::Output | Stream::Error => {
                        if call.asked {
                            self.note_failing_standard_stream();
                        }
                        true
                    }
                    Stream::Given(shape) => {
                        self.select_given(shape, None)?;
                        self.close_given(call.asked)?
                    }
                };
                self.opened.retain(|&opened| opened != object);
                self.closed.push(object);
                Value::Bits(if closed { 0 } else { EOF })
            }
            "perror" => {
                if !self.decide_null(&call.argument(0))? {
                    self.text_length(&call.argument(0), None)?;
                }
                Value::Undefined
            }
            "fflush" | "fflush_unlocked" => {
                match self.decide_null(&call.argument(0))? {
                    false if matches!(self.require_output(name, &call.argument(0))?, Stream::Given(_)) => {
                        self.flush_given(call.asked);
                    }
                    _ if call.asked => self.note_failing_standard_stream(),
                    _ => {}
                }
                Value::Bits(0)
            }
            "setvbuf" | "setbuf" | "setlinebuf" => match self.stream(&call.argument(0))?.0 {
                Stream::Given(_) => return self.unsupported(format!("'{name}' on a given stream")),
                _ => Value::Bits(0),
            },
            "ftell" | "ftello" | "ftello64" => {
                self.select_position(name, &call.argument(0))?;
                let position = self.position()?;
                self.term_value(position)
            }
            "fseek" | "fseeko" | "fseeko64" => {
                let (offset, whence) =
                    (self.concretise(&call.argument(1), 64)?, self.concretise(&call.argument(2), 32)?);
                self.select_position(name, &call.argument(0))?;
                self.seek(offset as i64, whence)?;
                Value::Bits(0)
            }
            "rewind" => {
                self.select_position(name, &call.argument(0))?;
                self.seek(0, 0)?;
                self.forget_end()?;
                Value::Undefined
            }
            _ => return Ok(None),
        }))
    }

    fn printed_character(&mut self, call: &StreamCall<'_>) -> Value {
        let value = call.argument(0);
        let term = self.as_term(&value, 32);
        let byte = self.session.terms.extract(term, 0, 8);
        self.character_or_end(Some(byte))
    }

    fn call_fwrite(&mut self, name: &str, call: &StreamCall<'_>) -> Step<Value> {
        let stream = self.require_output(name, &call.argument(3))?;
        let (size, count) = (self.concretise(&call.argument(1), 64)?, self.concretise(&call.argument(2), 64)?);
        let bytes = size.saturating_mul(count);
        if bytes == 0 {
            return Ok(Value::Bits(0));
        }
        self.resolve(&call.argument(0), bytes, crate::address::Access::Read)?;
        let length = self.session.terms.constant(u128::from(bytes), 64);
        Ok(Value::Bits(if self.put(stream, length, call.asked)? { count } else { 0 }))
    }

    /// Writes so many bytes (64 bits); whether that succeeds.
    fn put(&mut self, stream: Stream, length: TermId, asked: bool) -> Step<bool> {
        match stream {
            Stream::Given(_) => self.put_to_given(length, asked),
            _ if asked => {
                self.note_failing_standard_stream();
                Ok(true)
            }
            _ => Ok(true),
        }
    }

    fn open_stream(&self, object: ObjectId) -> Option<Stream> {
        if self.opened.contains(&object) {
            return Some(Stream::Output);
        }
        self.session.stream_of(object).or_else(|| self.given_stream(object).map(Stream::Given))
    }

    /// What the models of `fopen` are made of.
    fn call_stream_primitive(&mut self, callee: CodeFunctionId, arguments: &[Value]) -> Step<Option<Value>> {
        match (self.code.functions[callee].name.as_str(), arguments) {
            ("__bw_open_for_reading", _) if self.wrote_files => {
                self.unsupported("a file that is opened after another was written")
            }
            ("__bw_open_for_reading", _) => {
                self.rest_on(NO_FILES.assumed());
                Ok(Some(Value::Bits(0)))
            }
            ("__bw_open_for_writing", _) => {
                let object = self.memory.allocate(FILE_SIZE, 16, Origin::Stack, Contents::Uninitialised);
                self.wrote_files = true;
                self.opened.push(object);
                Ok(Some(Value::Pointer(Pointer { object, offset: 0 })))
            }
            _ => Ok(None),
        }
    }

    /// A stream that may be written, selected if it is one that the test gives.
    fn require_output(&mut self, name: &str, stream: &Value) -> Step<Stream> {
        let stream = self.stream(stream)?.0;
        match stream {
            Stream::Input => return self.unsupported(format!("'{name}' on standard input")),
            Stream::Given(shape) => self.select_given(shape, Some(Direction::Writing))?,
            Stream::Output | Stream::Error => {}
        }
        Ok(stream)
    }

    /// Selects a stream that has positions.
    fn select_position(&mut self, name: &str, stream: &Value) -> Step<()> {
        match self.stream(stream)?.0 {
            Stream::Given(shape) => self.select_given(shape, None),
            _ => self.unsupported(format!("'{name}' on a stream that the test does not give")),
        }
    }

    /// Which stream a `FILE *` is.
    fn stream(&mut self, value: &Value) -> Step<(Stream, ObjectId)> {
        if self.decide_null(value)? {
            return self.fail(FaultKind::NullDereference, "a null pointer used as a stream");
        }
        let known = match value {
            Value::Pointer(Pointer { object, offset: 0 }) => Some(*object),
            Value::Choice(choice) => {
                let targets = self.memory.targets(*choice).to_vec();
                self.choose_target(&targets)?.object
            }
            _ => None,
        };
        match known.and_then(|object| Some((self.open_stream(object)?, object))) {
            Some((_, object)) if self.closed.contains(&object) => self.unsupported("a stream that was closed before"),
            Some(known) => Ok(known),
            None => self.unsupported("a pointer to a stream that no function gave"),
        }
    }
}
