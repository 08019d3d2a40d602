/** Debian's Chromium for tests of pages. Each browser is a program of its own, with an empty profile. */
import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

export const CHROMIUM = "/usr/bin/chromium";

/**
 * Whether browser tests can run. Without a Chromium they are skipped, with this reason printed; on CI that is a
 * failure, since there it must be installed.
 */
export function hasChromium(): boolean {
  if (existsSync(CHROMIUM)) return true;
  const reason = `No Chromium at ${CHROMIUM}: \`apt-get install chromium\` to run the browser tests.`;
  if (process.env["CI"]) throw new Error(reason);
  console.warn(`Skipped: ${reason}`);
  return false;
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
