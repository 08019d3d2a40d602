/** SIGTERM and SIGINT of this process. */

/**
 * One Ctrl-C may arrive twice: from the terminal, which signals every process of the group, and once more from a
 * launcher (npm, tsx) that passes its signal on. Two key presses are never so close.
 */
const SAME_MS = 500;

/**
 * Calls back at each signal, the first time with 1. While it listens, Node does not end the process by itself.
 * Returns the function that ends the listening.
 */
export function onStopSignal(callback: (times: number) => void): () => void {
  let times = 0;
  let lastAt = -Infinity;
  const listener = () => {
    const now = performance.now();
    if (now - lastAt < SAME_MS) return;
    lastAt = now;
    callback((times += 1));
  };
  process.on("SIGTERM", listener);
  process.on("SIGINT", listener);
  return () => {
    process.off("SIGTERM", listener);
    process.off("SIGINT", listener);
  };
}
