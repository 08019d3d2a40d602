/** The options of `npm start --`. */
import { parseArgs } from "node:util";

export const START_USAGE = `Starts a backend, pushes the example's functions, and starts workers and the page.

  npm start -- [options]

  --once          Render one picture without a browser, kill one worker on the way, and check the outcome.
  --workers N     How many worker processes, 1 to 8. Default 2; --once takes at least 2.
  --page-port N   Where the page is served. Default 5173, or the next free port.
  --help          This text.`;

export interface StartOptions {
  readonly once: boolean;
  readonly workers: number;
  readonly pagePort: number;
}

/** Returns `null` when only help was asked for; otherwise throws with the correction to make. */
export function readStartOptions(args: readonly string[]): StartOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      once: { type: "boolean", default: false },
      workers: { type: "string", default: "2" },
      "page-port": { type: "string", default: "5173" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  return {
    once: values.once,
    // One is killed on the way: one must be left.
    workers: wholeNumber("--workers", values.workers, values.once ? 2 : 1, 8),
    pagePort: wholeNumber("--page-port", values["page-port"], 1, 65_535),
  };
}

function wholeNumber(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${flag} must be a whole number from ${min} to ${max}; got ${text}.`);
}
