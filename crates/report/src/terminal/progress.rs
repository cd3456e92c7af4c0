//! How generation goes on: a bar on a terminal, a line for each function otherwise.

use std::io::Write;

use branchwise_generate::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Reads progress events and shows them.
pub struct ProgressView<W> {
    shown: Shown<W>,
    functions: usize,
    finished: usize,
}

enum Shown<W> {
    Nothing,
    Bar(ProgressBar),
    Lines(W),
}

impl<W: Write> ProgressView<W> {
    /// For `--quiet`, and beside `--json`.
    pub fn hidden() -> Self {
        ProgressView::new(Shown::Nothing)
    }

    /// A bar on standard error, which must be a terminal.
    pub fn bar() -> Self {
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} functions  {msg}");
        let bar = ProgressBar::new(0);
        // The template is a constant: were it wrong, the default style is good enough.
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        ProgressView::new(Shown::Bar(bar))
    }

    /// A line for each function.
    pub fn lines(output: W) -> Self {
        ProgressView::new(Shown::Lines(output))
    }

    fn new(shown: Shown<W>) -> Self {
        ProgressView { shown, functions: 0, finished: 0 }
    }

    pub fn show(&mut self, event: &Progress) {
        self.note(event);
        let line = self.line(event);
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => show_on_bar(bar, event, self.functions),
            // A progress line that cannot be written is no reason to stop.
            Shown::Lines(output) => drop(line.map(|line| output.write_all(line.as_bytes()))),
        }
    }

    /// Removes the bar, so that the table starts on a clean line.
    pub fn finish(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }

    fn note(&mut self, event: &Progress) {
        match event {
            Progress::FileLoaded { functions } => self.functions += functions,
            Progress::FunctionFinished { .. } => self.finished += 1,
            _ => {}
        }
    }

    fn line(&self, event: &Progress) -> Option<String> {
        let Self { functions, finished, .. } = self;
        match event {
            Progress::FunctionFinished { name, reached, goals } => {
                Some(format!("[{finished}/{functions}] {name}: {reached} of {goals} goals reached\n"))
            }
            Progress::Replaying { tests } => Some(format!("replaying {tests} tests\n")),
            _ => None,
        }
    }
}

fn show_on_bar(bar: &ProgressBar, event: &Progress, functions: usize) {
    match event {
        Progress::FileLoaded { .. } => bar.set_length(functions as u64),
        Progress::FunctionStarted { name, goals } => bar.set_message(format!("{name}: 0 of {goals} goals")),
        Progress::GoalsReached { name, reached, goals } => {
            bar.set_message(format!("{name}: {reached} of {goals} goals"));
        }
        Progress::FunctionFinished { .. } => bar.inc(1),
        Progress::Replaying { tests } => bar.set_message(format!("replaying {tests} tests")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn without_a_terminal_each_function_is_a_line() {
        let mut output = Vec::new();
        let mut view = ProgressView::lines(&mut output);
        let name = || "trityp".to_owned();
        view.show(&Progress::FileLoaded { functions: 2 });
        view.show(&Progress::FunctionStarted { name: name(), goals: 20 });
        view.show(&Progress::GoalsReached { name: name(), reached: 18, goals: 20 });
        view.show(&Progress::FunctionFinished { name: name(), reached: 18, goals: 20 });
        view.show(&Progress::Replaying { tests: 9 });
        view.finish();
        let expected = expect![[r#"
            [1/2] trityp: 18 of 20 goals reached
            replaying 9 tests
        "#]];
        expected.assert_eq(&String::from_utf8_lossy(&output));
    }
}
