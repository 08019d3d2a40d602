/** A newcomer's first command: it renders a picture, kills a worker on the way, and loses nothing. */
import { expect, test } from "vitest";
import { start } from "../support/program.js";

/** The promised time on two cores; the rest of the limit is for a machine that is busy. */
const LIMIT_MS = 120_000;

test(
  "npm start -- --once renders every tile although a worker is killed, has Convex itself summarize it, and names the process of each part",
  async () => {
    const { code, output } = await start("npm", ["start", "--", "--once"]).ended;
    expect(code, output).toBe(0);
    expect(output).toMatch(/SIGKILL/);

    const [, jobs, attempts] = /(\d+) jobs, (\d+) attempts/.exec(output) ?? [];
    expect(Number(jobs)).toBe(48);
    expect(Number(attempts)).toBeGreaterThan(48);
    expect(output).toMatch(/worker +tiles +2nd attempt +arithmetic +wait p50/);
    expect(output).toMatch(/\(killed\)/);
    expect(output).toMatch(/Convex's summary: mostly #[0-9a-f]{6} \(\d+ %\), by \d workers/);
    const secondAttempts = Number(/^ +all +48 +(\d+)/m.exec(output)?.[1]);
    expect(secondAttempts).toBe(Number(attempts) - 48);
  },
  LIMIT_MS,
);
