/** Runs something that takes a while, and says whether it runs and how it failed. */
import { useState } from "react";
import { messageOf } from "./errors.js";

export interface Task<Args, Result> {
  readonly busy: boolean;
  readonly error: string | undefined;
  /** Resolves to `undefined` when it failed: `error` says why. */
  readonly run: (args: Args) => Promise<Result | undefined>;
}

export function useTask<Args, Result>(work: (args: Args) => Promise<Result>): Task<Args, Result> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | undefined>(undefined);
  const run = async (args: Args) => {
    setBusy(true);
    setError(undefined);
    try {
      return await work(args);
    } catch (failure) {
      setError(messageOf(failure));
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, run };
}
