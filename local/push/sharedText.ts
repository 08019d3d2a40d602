/**
 * A short text that two threads share. A message that a thread posts before it ends its process may never arrive; a
 * text in shared memory does.
 */
const MAX_BYTES = 1_024;

export class SharedText {
  readonly #length: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(readonly buffer: SharedArrayBuffer = new SharedArrayBuffer(4 + MAX_BYTES)) {
    this.#length = new Int32Array(buffer, 0, 1);
    this.#bytes = new Uint8Array(buffer, 4);
  }

  /** A longer text is cut. */
  set(text: string): void {
    const bytes = new TextEncoder().encode(text).subarray(0, MAX_BYTES);
    this.#bytes.set(bytes);
    Atomics.store(this.#length, 0, bytes.length);
  }

  get(): string {
    // A copy: shared memory cannot be decoded where it lies.
    return new TextDecoder().decode(this.#bytes.slice(0, Atomics.load(this.#length, 0)));
  }
}
