/**
 * `_creationTime` within one transaction: it starts where the transaction starts, and each insert takes the next
 * representable double. So it orders a transaction's own inserts, and says nothing about the order of commits: a
 * transaction that began earlier and commits later writes the smaller one.
 */
import type { Environment } from "../environment.js";
import type { Ts } from "./types.js";

const NS_PER_MS = 1e6;

export class CreationClock {
  #next: number;

  constructor(env: Environment, snapshotTs: Ts) {
    this.#next = Math.max(Number(snapshotTs + 1n) / NS_PER_MS, env.now());
  }

  next(): number {
    const time = this.#next;
    this.#next = nextUp(time);
    return time;
  }
}

const scratch = new DataView(new ArrayBuffer(8));

/** The least double above a positive one: its bits, read as an integer, plus one. */
function nextUp(value: number): number {
  scratch.setFloat64(0, value);
  scratch.setBigUint64(0, scratch.getBigUint64(0) + 1n);
  return scratch.getFloat64(0);
}
