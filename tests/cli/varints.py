"""Numbers of seven bits a byte, lowest first: in protocol buffers and the page's timeline."""
import itertools


def varint(data, at):
    """Returns the number at an offset, and the offset after it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """Yields (number, wire type, value) of a protocol buffer's fields: a number or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        size = {1: 8, 5: 4}.get(tag & 7, 0)
        if tag & 7 in (0, 2):
            value, at = varint(data, at)
            size = value if tag & 7 == 2 else 0
        if tag & 7 != 0:
            value, at = data[at:at + size], at + size
        if tag & 7 not in (0, 1, 2, 5) or at > len(data):
            raise AssertionError(f'no field, or a field beyond the end, before byte {at}')
        yield tag >> 3, tag & 7, value


class Varints:
    """Reads the format of src/report/timeline_bytes.h: varints, zigzag for signed ones, texts."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value, self.at = varint(self.data, self.at)
        return value

    def signed(self):
        value = self.number()
        return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)

    def bytes(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def text(self):
        return self.bytes(self.number()).decode()

    def numbers(self, n):
        return [self.number() for _ in range(n)]


COLUMNS = 'launch', 'correlation', 'shape', 'bytes', 'inputs', 'stack'


def events_of(data, names):
    """Returns (place of the rank, begin, duration, name, wait) of the events in the page's bytes,
    in order; the wait is -1 for unmatched kernels, and None for other events."""
    block, found = Varints(data), []
    while block.at < len(data):
        place, track = block.numbers(6)[:2]
        n, begin, begins = block.number(), 0, []
        for _ in range(n):
            begin += block.signed()
            begins.append(begin)
        durations, texts = block.numbers(n), [names[i] for i in block.numbers(n)]
        if track != 0:  # not a stream: its events have depths
            block.bytes(n)
        for *event, kind in zip(begins, durations, texts, block.bytes(n)):
            wait = None
            if track == 0 and kind in (1, 3):  # transfers and unmatched ones
                wait = block.numbers(2)[0] - 1
                if (wait >= 0) != (kind == 1):
                    raise AssertionError(f'a kind {kind} with a wait of {wait}')
            found.append((place, *event, wait))
    return found


def details_of(data, events, names):
    """Yields (place, event, column, value) of the details of events, which index `events`, lists by
    place; a launch is given as the event of its call."""
    block = Varints(data)
    while block.at < len(data):
        place = block.number()
        shapes = [tuple(n - 1 for n in block.numbers(9)) for _ in range(block.number())]
        for column in COLUMNS:
            n = block.number()
            keys = list(itertools.accumulate(block.numbers(n)))
            values = ([names[i] for i in block.numbers(n)] if column in ('inputs', 'stack') else
                      list(itertools.accumulate(block.signed() for _ in range(n))))
            for key, value in zip(keys, values):
                value = (events[place][value] if column == 'launch' else
                         shapes[value] if column == 'shape' else value)
                yield place, events[place][key], column, value
        for _ in range(block.number()):  # counters
            block.numbers(2)
            n = block.number()
            block.numbers(n)
            block.bytes(4 * n)
