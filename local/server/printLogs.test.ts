import { afterEach, expect, test, vi } from "vitest";
import { PRELUDE, startTestBackend } from "../functions/testing.js";
import { printLogs } from "./printLogs.js";

afterEach(() => void vi.restoreAllMocks());

test("functions' log lines and failures go to this process's output under their names", async () => {
  const out = vi.spyOn(console, "log").mockImplementation(() => {});
  const err = vi.spyOn(console, "error").mockImplementation(() => {});
  const module = `${PRELUDE}
    export const talk = mutation(() => { console.log("hello", 3); console.warn("careful"); console.error("bad"); });
    export const fail = action(() => { throw new Error("no good"); });`;
  const backend = await startTestBackend({ "": { "m.ts": module }, child: { "n.ts": module } });
  printLogs(backend.runner);
  await backend.mutation("m:talk");
  await backend.mutation("child::n:talk");
  await backend.action("m:fail").catch(() => {});
  expect(out.mock.calls).toEqual([["m:talk [LOG] 'hello' 3"], ["child/n:talk [LOG] 'hello' 3"]]);
  expect(err.mock.calls.map(([line]) => String(line).split("\n")[0])).toEqual([
    "m:talk [WARN] 'careful'",
    "m:talk [ERROR] 'bad'",
    "child/n:talk [WARN] 'careful'",
    "child/n:talk [ERROR] 'bad'",
    "m:fail Uncaught Error: no good",
  ]);
  await backend.stop();
});
