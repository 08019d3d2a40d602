/** The current time for texts such as "3 s ago": one timer for the page, stopped while the page is disconnected. */
import { createContext, useContext, useEffect, useState, type ReactNode } from "react";

const NowContext = createContext(0);

/** The current time, renewed once per second. */
export const useNow = (): number => useContext(NowContext);

export function Clock({ runs, children }: { runs: boolean; children: ReactNode }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [runs]);
  return <NowContext.Provider value={now}>{children}</NowContext.Provider>;
}
