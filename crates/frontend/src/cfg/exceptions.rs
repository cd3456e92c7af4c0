//! Where exceptions can be thrown, and where they lead.

use branchwise_program::map::{EdgeLabel, Event, Node, NodeKind, THROW};

use super::{Builder, Call, End, Ends};
use crate::syntax::{SyntaxId, SyntaxTree};

impl Builder<'_, '_, '_> {
    /// Every statement of the body may lead to every handler.
    pub(super) fn try_statement(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let tree = self.tree();
        let Some((&body, handlers)) = tree.children(id).split_first() else { return incoming };
        self.state.tries.push(Vec::new());
        // Around a whole constructor or destructor: members and bases that the text does not show may throw.
        let unseen = if id == SyntaxTree::BODY { incoming.clone() } else { Vec::new() };
        let mut ends = self.statement(body, incoming);
        let mut thrown = self.state.tries.pop().unwrap_or_default();
        thrown.extend(unseen);
        for &handler in handlers {
            if let Some(&block) = tree.children(handler).last() {
                let taken = self.handler(handler, thrown.clone());
                ends.extend(self.statement(block, taken));
            }
        }
        ends
    }

    fn handler(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let Some(&marker) = self.plan.handlers.get(&id) else { return incoming };
        let (place, text) = (self.place(id), self.markers[marker].text.clone());
        let node = self.node(Node { kind: NodeKind::Handler(marker), place, text }, incoming);
        self.markers[marker].node = node;
        vec![End::Edge(node, EdgeLabel::Outcome(Event { marker, outcome: 0 }))]
    }

    /// A call in a condition may lead to a handler before the condition is decided: a node of its own does.
    pub(super) fn may_throw(&mut self, id: SyntaxId, first_call: usize, incoming: Ends) -> Ends {
        if self.state.tries.is_empty() || self.state.open_calls.len() == first_call {
            return incoming;
        }
        let (place, text) = (self.place(id), self.text(id));
        let node = self.node(Node { kind: NodeKind::Statement, place, text }, incoming);
        vec![End::Edge(node, EdgeLabel::Always)]
    }

    /// An expression for which the compiler calls something behind its operands.
    pub(super) fn with_hidden_call(&mut self, id: SyntaxId, name: &str, operands: &[SyntaxId], incoming: Ends) -> Ends {
        let ends = self.expressions(operands, incoming);
        let (callee, place) = (Some(name.to_owned()), self.place(id));
        self.state.open_calls.push(Call { callee, declared_by_user: false, place, returns: name != THROW });
        ends
    }
}
