/** The jobs themselves. What they log is what the measurement knows of them: it costs no alternative a call or a write. */
import { internalAction, internalMutation, vWork } from "./builders.js";

export const act = internalAction({
  args: vWork,
  handler: async (_ctx, { n, ms }) => {
    await work(n, ms);
    return null;
  },
});

export async function work(n: number, ms: number): Promise<void> {
  console.log(`began ${n}`);
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
  console.log(`ended ${n}`);
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
