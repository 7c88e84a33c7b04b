/** Reads bytes written by src/report/timeline_bytes.h. */
export class Bytes {
  #at = 0;
  readonly #text = new TextDecoder();

  constructor(readonly data: Uint8Array) {}

  get done(): boolean {
    return this.#at >= this.data.length;
  }

  /** Reads a varint. Exact up to 2^53, which no time from the job's begin reaches. */
  number(): number {
    const data = this.data;
    let byte = data[this.#at++];
    if (byte === undefined) throw new Error("a block ends too early");
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 0x80;
    do {
      byte = data[this.#at++];
      if (byte === undefined) throw new Error("a block ends too early");
      value += (byte & 0x7f) * scale;
      scale *= 0x80;
    } while (byte >= 0x80);
    return value;
  }

  /** Reads a zigzag varint. */
  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  text(): string {
    return this.#text.decode(this.bytes(this.number()));
  }

  /** Returns the next n bytes without copying. */
  bytes(n: number): Uint8Array {
    if (this.#at + n > this.data.length) throw new Error("a block ends too early");
    this.#at += n;
    return this.data.subarray(this.#at - n, this.#at);
  }
}
