/** The lines for a person while programs start: a line per step, with the time it took. */

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function fail(error: unknown): void {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
}

/** Names a step before it begins, so that a hanging one has a name, and says how long it took. */
export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  process.stdout.write(`  ${name} … `);
  const begun = performance.now();
  try {
    const result = await work();
    say(`${((performance.now() - begun) / 1000).toFixed(1)} s`);
    return result;
  } catch (error) {
    say("failed");
    throw error;
  }
}
