"""
Weakened memory orders: every atomic operation of the sources whose order is not relaxed, and each way
to make it weaker by one step. For tools/mutants.

A weakening has a name that does not change when lines move:

    src/task/state.h edo_state_change compare_exchange acq_rel>acquire
    src/base/list.c  pop              compare_exchange#2 failure acquire>relaxed

the file, the function, the operation (#2: the second of its kind there), `failure` for the second order
of a compare-and-swap, and what became of the order.
"""
import re

OPERATION = re.compile(r'\bedo_(load|store|exchange|fetch_[a-z]+|compare_exchange)\(')
FUNCTION = re.compile(r'^[A-Za-z_].*?\b([A-Za-z_]\w*)\(', re.M)

# One step down. A load cannot release, a store cannot acquire.
WEAKER = {
    'acquire': ['relaxed'],
    'release': ['relaxed'],
    'acq_rel': ['acquire', 'release'],
    'seq_cst': ['acq_rel'],
}
WEAKER_LOAD = {**WEAKER, 'seq_cst': ['acquire']}
WEAKER_STORE = {**WEAKER, 'seq_cst': ['release']}

# The names themselves are defined here, and nothing is done.
NOT_SEARCHED = {'src/base/atomic.h'}


class Weakening:
    """One order of one operation, and what it is replaced by."""

    def __init__(self, path, name, start, end, before, after):
        self.path, self.name = path, name
        self.start, self.end = start, end
        self.before, self.after = before, after

    def apply(self, text):
        assert text[self.start:self.end] == self.before, self.name
        return text[:self.start] + self.after + text[self.end:]


def without_comments(text):
    """The same text, of the same length, with blanks for comments."""
    def blanks(match):
        return re.sub(r'[^\n]', ' ', match.group(0))
    return re.sub(r'/\*.*?\*/', blanks, text, flags=re.S)


def arguments(code, opening):
    """(start, end) of each argument of a call, after its opening bracket."""
    depth, start, found = 1, opening, []
    for at in range(opening, len(code)):
        if code[at] in '([{':
            depth += 1
        elif code[at] in ')]}':
            depth -= 1
        if depth == 0 or (depth == 1 and code[at] == ','):
            found.append(trimmed(code, start, at))
            start = at + 1
        if depth == 0:
            return found
    raise ValueError('a call without an end')


def trimmed(code, start, end):
    while code[start].isspace():
        start += 1
    while code[end - 1].isspace():
        end -= 1
    return start, end


def function_at(code, at):
    last = ''
    for match in FUNCTION.finditer(code, 0, at):
        last = match.group(1)
    return last


def orders_of(operation, found):
    """(place, what it is called, how it may weaken) of each order of a call."""
    if operation == 'load':
        return [(found[-1], '', WEAKER_LOAD)]
    if operation == 'store':
        return [(found[-1], '', WEAKER_STORE)]
    if operation == 'compare_exchange':
        return [(found[-2], '', WEAKER), (found[-1], ' failure', WEAKER_LOAD)]
    return [(found[-1], '', WEAKER)]


def weakenings_of_file(path, text):
    code = without_comments(text)
    counts = {}
    for match in OPERATION.finditer(code):
        operation = match.group(1)
        function = function_at(code, match.start())
        counts[function, operation] = count = counts.get((function, operation), 0) + 1
        number = f'#{count}' if count > 1 else ''
        for (start, end), what, weaker in orders_of(operation, arguments(code, match.end())):
            before = code[start:end]
            for after in weaker.get(before, []):
                name = f'{path} {function} {operation}{number}{what} {before}>{after}'
                yield Weakening(path, name, start, end, before, after)


def weakenings(files):
    """Of a tree, path: bytes."""
    for path in sorted(files):
        if re.match(r'(src|include)/.*\.[ch]$', path) and path not in NOT_SEARCHED:
            yield from weakenings_of_file(path, files[path].decode())
