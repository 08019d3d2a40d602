/** By which name the operating system knows a thread. */
import { readlinkSync } from "node:fs";

/** Linux tells; elsewhere processor time of one thread cannot be read from another. */
export function taskOfThread(): number | null {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  } catch {
    return null;
  }
}
