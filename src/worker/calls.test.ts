/** The session's calls over the weeks of a worker's life. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Calls } from "./calls.js";
import { FakeClock } from "./fakes.test.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What a `WeakRef` names in one turn of the event loop stays for that turn. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("an answer is not kept once it was given: a worker makes millions of calls", async () => {
  const { signal: gaveUp } = new AbortController();
  const calls = new Calls({ clock: new FakeClock(), emit: () => {}, gaveUp });
  const replies: WeakRef<object>[] = [];
  for (let call = 0; call < 20; call += 1) {
    await calls.run("claim", () => {
      const reply = { jobs: [] };
      replies.push(new WeakRef(reply));
      return Promise.resolve(reply);
    });
  }
  await nextTurn();
  collectGarbage();
  // The last may be on the stack still.
  expect(replies.filter((one) => one.deref() !== undefined).length).toBeLessThanOrEqual(1);
});
