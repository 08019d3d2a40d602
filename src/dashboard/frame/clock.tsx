/** The current time for texts such as "3 s ago": one timer for the page, stopped while the page is disconnected. */
import { createContext, useContext, useEffect, useState, type ReactNode } from "react";

const NowContext = createContext(0);

/** The current time, renewed once per second. */
export const useNow = (): number => useContext(NowContext);

const firstShown = new WeakMap<object, number>();

/**
 * How long ago an answer, or a part of one, was first shown here. The reader's clock may be off: an answer's own time and this
 * age together are the deployment's time now.
 */
export function useAgeOf(): (answer: object) => number {
  const now = useNow();
  return (answer) => {
    const at = firstShown.get(answer) ?? now;
    firstShown.set(answer, at);
    return now - at;
  };
}

export function Clock({ runs, children }: { runs: boolean; children: ReactNode }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [runs]);
  return <NowContext.Provider value={now}>{children}</NowContext.Provider>;
}
