/** SIGTERM and SIGINT of a program that runs until it is stopped. */
import { wallEnvironment } from "./environment.js";

/**
 * One Ctrl-C may arrive twice: from the terminal, which signals every process of the group, and once more from a
 * launcher (npm, tsx) that passes on its own. Two presses never come so fast.
 */
const SAME_MS = 500;

/** Calls back at each signal. From now on, Node does not end the process by itself. */
export function onStopSignal(callback: () => void): void {
  let lastAt = -Infinity;
  const listener = (): void => {
    const now = wallEnvironment.now();
    if (now - lastAt < SAME_MS) return;
    lastAt = now;
    callback();
  };
  process.on("SIGINT", listener);
  process.on("SIGTERM", listener);
}
