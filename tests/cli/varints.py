"""Numbers of seven bits a byte, the least first: of protocol buffers, and of the page's timeline."""


def varint(data, at):
    """The number at a place, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


class Varints:
    """Reads what src/report/timeline_bytes.h writes: varints, signed ones in zigzag, texts."""

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
