/* The links of std::list. */
#include "std.h"

#include <list>

namespace std {
namespace __detail {

void _List_node_base::_M_hook(_List_node_base *const before) noexcept {
    _M_next = before;
    _M_prev = before->_M_prev;
    before->_M_prev->_M_next = this;
    before->_M_prev = this;
}

void _List_node_base::_M_unhook() noexcept {
    _M_prev->_M_next = _M_next;
    _M_next->_M_prev = _M_prev;
}

/* The nodes from `first` up to `last`, which stays, come before this one. */
void _List_node_base::_M_transfer(_List_node_base *const first, _List_node_base *const last) noexcept {
    if (this == last) return;
    _List_node_base *const end = last->_M_prev, *const before = first->_M_prev;
    before->_M_next = last;
    last->_M_prev = before;
    first->_M_prev = _M_prev;
    end->_M_next = this;
    _M_prev->_M_next = first;
    _M_prev = end;
}

void _List_node_base::_M_reverse() noexcept {
    _List_node_base *at = this;
    do {
        _List_node_base *const following = at->_M_next;
        at->_M_next = at->_M_prev;
        at->_M_prev = following;
        at = following;
    } while (at != this);
}

static void meet(_List_node_base &list) noexcept { list._M_next->_M_prev = list._M_prev->_M_next = &list; }

void _List_node_base::swap(_List_node_base &one, _List_node_base &other) noexcept {
    const bool one_is_empty = one._M_next == &one, other_is_empty = other._M_next == &other;
    const _List_node_base first = one, second = other;
    if (other_is_empty) one._M_next = one._M_prev = &one;
    else one = second, meet(one);
    if (one_is_empty) other._M_next = other._M_prev = &other;
    else other = first, meet(other);
}

}
}
