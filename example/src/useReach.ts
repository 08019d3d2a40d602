/** Whether the backend can be reached, as shown to people: a reload's own connecting is not worth a word. */
import { useEffect, useState } from "react";
import { useConnection } from "./data.js";

/** Connecting takes less; only longer silences count. */
const PATIENCE_MS = 1500;

/** The explanation of a button that is off meanwhile: the banner's id, for `aria-describedby`. */
export const OUT_OF_REACH_ID = "out-of-reach";

export function useOutOfReach(): boolean {
  return useLasting(!useConnection().connected, PATIENCE_MS);
}

/** True once the condition has held for so long; false at once when it ends. */
function useLasting(condition: boolean, ms: number): boolean {
  const [lasting, setLasting] = useState(false);
  useEffect(() => {
    if (!condition) return;
    const timer = setTimeout(() => setLasting(true), ms);
    return () => {
      clearTimeout(timer);
      setLasting(false);
    };
  }, [condition, ms]);
  return condition && lasting;
}
