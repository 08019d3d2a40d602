/** Does something and says what became of it, whoever is looking: the page has already changed, and changes back on failure. */
import { useCallback } from "react";
import { useFrame } from "../frame/context.js";
import { messageOf } from "../words.js";

export interface Deed<Reply> {
  readonly work: () => Promise<Reply>;
  /** What is said when it is done. */
  readonly done: (reply: Reply) => string;
  /** What is said before the reason when it is not: "tiles is not paused". */
  readonly failed: string;
}

export function usePerform() {
  const { announce, complain } = useFrame();
  return useCallback(
    async <Reply>({ work, done, failed }: Deed<Reply>): Promise<void> => {
      try {
        announce(done(await work()));
      } catch (error) {
        complain(`${failed}: ${messageOf(error)}`);
      }
    },
    [announce, complain],
  );
}
