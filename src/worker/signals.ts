/** SIGTERM and SIGINT of this process. */

/**
 * Calls back at each signal, the first time with 1. While it listens, Node does not end the process by itself.
 * Returns what ends the listening.
 */
export function onStopSignal(callback: (times: number) => void): () => void {
  let times = 0;
  const listener = () => callback((times += 1));
  process.on("SIGTERM", listener);
  process.on("SIGINT", listener);
  return () => {
    process.off("SIGTERM", listener);
    process.off("SIGINT", listener);
  };
}
