/**
 * Streams of random numbers for simulations: fast, and not for secrets. One seed gives many streams, distinguished by
 * their names, so that a new user of one stream changes nothing in the other streams.
 *
 * The generator is sfc32 of Chris Doty-Humphrey's PractRand (public domain): 128 bits of state, of which 32 count, so
 * that no stream is short. The seed is spread over the state by the hash that FNV-1a starts and murmur3 finishes.
 */
export interface RandomStream {
  /** Uniform in [0, 1), 32 bits of it. */
  next(): number;
  /** Whole, uniform in [0, below). */
  below(below: number): number;
  bytes(length: number): Uint8Array;
  /** Normally distributed, mean 0, variance 1. */
  normal(): number;
  /** One of them. */
  pick<T>(among: readonly T[]): T;
}

/** Rounds after seeding until the state no longer shows the seed. The generator's author's number. */
const WARM_UP_ROUNDS = 12;

export function randomStream(seed: number | string, name: string): RandomStream {
  const text = `${seed}/${name}`;
  let a = hash(text, 1);
  let b = hash(text, 2);
  let c = hash(text, 3);
  let counter = 1;
  const word = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
  for (let round = 0; round < WARM_UP_ROUNDS; round++) word();
  const next = (): number => word() / 2 ** 32;
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    bytes(length) {
      const filled = new Uint8Array(length);
      for (let at = 0; at < length; at += 4) {
        const bits = word();
        for (let i = 0; i < 4 && at + i < length; i++) filled[at + i] = bits >>> (8 * i);
      }
      return filled;
    },
    // Box and Muller: of the pair that it makes, one is thrown away, so that the stream has no hidden state.
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    pick: (among) => {
      if (among.length === 0) throw new RangeError("There is nothing to pick from.");
      return among[below(among.length)]!;
    },
  };
}

function hash(text: string, salt: number): number {
  let bits = 0x811c9dc5 ^ salt;
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
