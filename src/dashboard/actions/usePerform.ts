/** Runs an action and reports its outcome: the page has already changed, and changes back on failure. */
import { useCallback } from "react";
import { useFrame } from "../frame/context.js";
import { messageOf } from "../words.js";

export interface Deed<Reply> {
  readonly work: () => Promise<Reply>;
  /** The report of a success. */
  readonly done: (reply: Reply) => string;
  /** The report of a failure, with its reason. */
  readonly failed: (reason: string) => string;
}

export function usePerform() {
  const { announce, complain } = useFrame();
  return useCallback(
    async <Reply>({ work, done, failed }: Deed<Reply>): Promise<void> => {
      try {
        announce(done(await work()));
      } catch (error) {
        complain(failed(messageOf(error)));
      }
    },
    [announce, complain],
  );
}
