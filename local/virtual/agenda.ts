/**
 * Events by their times: a binary heap of later ones, and a bag of due ones, from which the next is drawn at random. It
 * does not know the events' work.
 */
export interface Entry {
  /** Milliseconds since the epoch. */
  at: number;
  /** In the order of asking: it orders events of one time before they are drawn. */
  order: number;
  canceled: boolean;
}

/** Fewer canceled entries than this are not worth a pass over the heap. */
const MIN_COMPACTION = 1_000;

export class Agenda<E extends Entry> {
  #heap: E[] = [];
  readonly #due: E[] = [];
  #canceledInHeap = 0;

  /** Nothing waits. Entries that were canceled do not count. */
  get empty(): boolean {
    this.#dropCanceled();
    return this.#due.length === 0 && this.#heap.length === 0;
  }

  get size(): number {
    return this.#due.length + this.#heap.length - this.#canceledInHeap;
  }

  add(entry: E, now: number): void {
    if (entry.at <= now) this.#due.push(entry);
    else this.#push(entry);
  }

  /** The entry stays where it is, and is passed over. */
  cancel(entry: E, now: number): void {
    if (entry.canceled) return;
    entry.canceled = true;
    if (entry.at <= now) return;
    this.#canceledInHeap++;
    if (this.#canceledInHeap > MIN_COMPACTION && this.#canceledInHeap > this.#heap.length / 2) {
      this.#compact();
    }
  }

  /** The time of the next event: `now` when one is due, `Infinity` when nothing waits. */
  nextAt(now: number): number {
    this.#dropCanceled();
    return this.#due.length > 0 ? now : (this.#heap[0]?.at ?? Infinity);
  }

  /** Moves all events with a time up to now into the bag. */
  collect(now: number): void {
    while (this.#heap.length > 0 && this.#heap[0]!.at <= now) {
      const entry = this.#pop();
      if (entry.canceled) this.#canceledInHeap--;
      else this.#due.push(entry);
    }
  }

  /** Takes one out of the bag; `draw(n)` is a random index below n. */
  draw(draw: (length: number) => number): E | undefined {
    const length = this.#due.length;
    if (length === 0) return undefined;
    const index = length === 1 ? 0 : draw(length);
    const drawn = this.#due[index]!;
    const last = this.#due.pop()!;
    if (index < length - 1) this.#due[index] = last;
    return drawn;
  }

  #dropCanceled(): void {
    while (this.#due.length > 0 && this.#due[this.#due.length - 1]!.canceled) this.#due.pop();
    while (this.#heap.length > 0 && this.#heap[0]!.canceled) {
      this.#pop();
      this.#canceledInHeap--;
    }
  }

  #compact(): void {
    const kept = this.#heap.filter((entry) => !entry.canceled).sort(byTime);
    // A sorted array is a heap.
    this.#heap = kept;
    this.#canceledInHeap = 0;
  }

  #push(entry: E): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (byTime(heap[parent]!, entry) <= 0) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): E {
    const heap = this.#heap;
    const first = heap[0]!;
    const moved = heap.pop()!;
    const { length } = heap;
    if (length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && byTime(heap[child + 1]!, heap[child]!) < 0) child++;
      if (byTime(moved, heap[child]!) <= 0) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = moved;
    return first;
  }
}

function byTime(a: Entry, b: Entry): number {
  return a.at - b.at || a.order - b.order;
}
