/** The time of day as a hook, and durations in words. */
import { useEffect, useState } from "react";

/**
 * The current time, renewed once per second: beats are seconds apart, and no reader is faster. While it does not run,
 * it stays at the last second that did.
 */
export function useNow(running: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}

/** "now", "3 s ago", "4 min ago". Never in the future: the browser's clock may be behind the backend's. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 1) return "now";
  if (seconds < 90) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min ago`;
  return `${Math.round(minutes / 60)} h ago`;
}

/** "21 Nov, 03:12", as the reader's language has it. */
export function dayAndTime(at: number): string {
  return new Date(at).toLocaleString(undefined, {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
}

/** "34 ms", "1.2 s", "20 s": two or three digits. */
export function duration(ms: number): string {
  if (ms < 950) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(ms < 9_950 ? 1 : 0)} s`;
}
