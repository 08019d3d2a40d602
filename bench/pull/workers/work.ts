/** The common part of all workers: the work itself, and the printed lines that the measurement reads. */

export interface Work {
  n: number;
  ms: number;
}

export async function work({ n, ms }: Work): Promise<void> {
  console.log(`began ${n}`);
  if (ms > 0) await sleep(ms);
  console.log(`ended ${n}`);
}

/** A call came back with an error, even where it is repeated. */
export function failed(call: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  console.log(`error ${call}: ${message.replaceAll("\n", " ")}`);
}

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Between a call that failed and the next: half a second, doubling to half a minute, times a random half to whole. */
const pause = (times: number): Promise<void> =>
  sleep(Math.min(30_000, 500 * 2 ** times) * (0.5 + Math.random() / 2));

/** Until it is answered. The reports of ends may come twice. */
export async function insist<Reply>(name: string, call: () => Promise<Reply>): Promise<Reply> {
  for (let times = 0; ; times++) {
    try {
      return await call();
    } catch (error) {
      failed(name, error);
      await pause(times);
    }
  }
}

export const env = process.env as Record<string, string>;
