/**
 * Randomness that a seed replays: ChaCha with 12 rounds, the generator that the platform seeds for each execution.
 *
 * Source: D. J. Bernstein, "ChaCha, a variant of Salsa20" (2008); the block layout is the paper's, with a 64-bit block
 * counter and a zero nonce. Not for secrets: the seed gives the rest.
 */

/** A seed is 32 bytes: ChaCha's key. */
export const SEED_BYTES = 32;
const ROUNDS = 12;
const BLOCK_WORDS = 16;
const BLOCK_BYTES = BLOCK_WORDS * 4;
/** "expand 32-byte k": the paper's constant. */
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

export interface Random {
  /** Uniform in [0, 1), 53 bits of it. */
  next(): number;
  bytes(length: number): Uint8Array;
}

export function seededRandom(seed: Uint8Array): Random {
  if (seed.length !== SEED_BYTES) {
    throw new RangeError(`a seed has ${SEED_BYTES} bytes, not ${seed.length}`);
  }
  const block = new Uint8Array(BLOCK_BYTES);
  const output = new DataView(block.buffer);
  const state = initialState(seed);
  let used = BLOCK_BYTES;

  const bytes = (length: number): Uint8Array => {
    const filled = new Uint8Array(length);
    for (let at = 0; at < length;) {
      if (used === BLOCK_BYTES) {
        writeBlock(state, output);
        used = 0;
      }
      const taken = block.subarray(used, used + Math.min(BLOCK_BYTES - used, length - at));
      filled.set(taken, at);
      at += taken.length;
      used += taken.length;
    }
    return filled;
  };

  const next = (): number => {
    const view = new DataView(bytes(8).buffer);
    // 53 bits, the most that a double between 0 and 1 resolves evenly: 27 above 26.
    const high = view.getUint32(0, true) >>> 5;
    const low = view.getUint32(4, true) >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  };

  return { next, bytes };
}

function initialState(seed: Uint8Array): Uint32Array {
  const key = new DataView(seed.buffer, seed.byteOffset, seed.byteLength);
  const state = new Uint32Array(BLOCK_WORDS);
  state.set(SIGMA);
  for (let word = 0; word < 8; word++) state[4 + word] = key.getUint32(word * 4, true);
  return state;
}

/** Writes the next 64 bytes, and moves the counter on. */
function writeBlock(state: Uint32Array, output: DataView): void {
  const x = state.slice();
  for (let round = 0; round < ROUNDS; round += 2) {
    quarterRound(x, 0, 4, 8, 12);
    quarterRound(x, 1, 5, 9, 13);
    quarterRound(x, 2, 6, 10, 14);
    quarterRound(x, 3, 7, 11, 15);
    quarterRound(x, 0, 5, 10, 15);
    quarterRound(x, 1, 6, 11, 12);
    quarterRound(x, 2, 7, 8, 13);
    quarterRound(x, 3, 4, 9, 14);
  }
  for (let word = 0; word < BLOCK_WORDS; word++) {
    output.setUint32(word * 4, (x[word]! + state[word]!) >>> 0, true);
  }
  state[12] = state[12]! + 1;
  if (state[12] === 0) state[13] = state[13]! + 1;
}

function quarterRound(x: Uint32Array, a: number, b: number, c: number, d: number): void {
  x[a] = x[a]! + x[b]!;
  x[d] = rotateLeft(x[d]! ^ x[a], 16);
  x[c] = x[c]! + x[d];
  x[b] = rotateLeft(x[b]! ^ x[c], 12);
  x[a] = x[a] + x[b];
  x[d] = rotateLeft(x[d] ^ x[a], 8);
  x[c] = x[c] + x[d];
  x[b] = rotateLeft(x[b] ^ x[c], 7);
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
