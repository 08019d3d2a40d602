/**
 * How often something can be done in a second, one at a time. The best of several slices counts: any other load of the
 * machine makes a slice slower and never faster.
 */
const WARM_UP = 50;
const SLICES = 10;

export async function rate(ms: number, once: () => Promise<void>): Promise<number> {
  for (let i = 0; i < WARM_UP; i++) await once();
  let best = 0;
  for (let slice = 0; slice < SLICES; slice++)
    best = Math.max(best, await slicePer(ms / SLICES, once));
  return Math.round(best);
}

async function slicePer(ms: number, once: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  let done = 0;
  let elapsed = 0;
  while (elapsed < ms) {
    await once();
    done += 1;
    elapsed = performance.now() - startedAt;
  }
  return (done / elapsed) * 1_000;
}
