/** The jobs themselves. The measurement reads only their log lines: it costs no alternative a call or a write. */
import { internalAction, internalMutation, vWork, type Work } from "./builders.js";

export const act = internalAction({
  args: vWork,
  handler: async (_ctx, given) => {
    await work(given);
    return null;
  },
});

export async function work({ n, ms, failing }: Work): Promise<void> {
  console.log(`began ${n}`);
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
  console.log(`ended ${n}`);
  if (failing !== undefined && Math.random() * 100 < failing) throw new Error("It was to fail.");
}

let notes: string[] = [];
let running = 0;

/** The same in a process that many jobs share: a function keeps 256 lines, so that a line says it of many. */
export async function workNoted({ n, ms }: Work): Promise<void> {
  running += 1;
  notes.push(`began ${n} at ${Date.now()}`);
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
  notes.push(`ended ${n} at ${Date.now()}`);
  running -= 1;
  if (running > 0 && notes.length < 64) return;
  console.log(notes.join(", "));
  notes = [];
}

export const book = internalMutation({
  args: vWork,
  handler: async (_ctx, { n }) => {
    booked(n);
    return null;
  },
});

export function booked(n: number): void {
  console.log(`began ${n}`);
  console.log(`ended ${n}`);
}
