/** Flags of `npx convex-conveyor work`, wrong ones above all. */
import { expect, test } from "vitest";
import { readWorkOptions, UsageError } from "./workOptions.js";

const token = `cvy_0123abcd_${"0".repeat(64)}`;

test("a file alone is enough, and --help asks for nothing", () => {
  expect(readWorkOptions(["./worker.ts"])).toEqual({ file: "./worker.ts", args: [], watch: false });
  expect(readWorkOptions(["--help"])).toBeNull();
});

test("every flag is read, and what stands behind -- is the module's", () => {
  const flags = ["--processes", "3", "--watch", "--url", "http://127.0.0.1:3210", "--token", token];
  const more = ["--name", "gpu", "--max-memory", "512", "--grace-ms", "0", "--", "--fast", "x"];
  expect(readWorkOptions(["w.js", ...flags, ...more])).toEqual({
    ...{ file: "w.js", args: ["--fast", "x"], watch: true, processes: 3, name: "gpu" },
    ...{ url: "http://127.0.0.1:3210", token, maxMemoryBytes: 536_870_912, graceMs: 0 },
  });
});

test.each([
  [[], /Which module/],
  [["w.ts", "--process", "3"], /Unknown option '--process'.*\n.*--help/],
  [["w.ts", "--processes"], /--processes/],
  [["w.ts", "--processes", "0"], /--processes must be a whole number from 1 to 256; got 0/],
  [["w.ts", "--processes", "many"], /got many/],
  [["w.ts", "--processes", "1e2"], /got 1e2/],
  [["w.ts", "--max-memory", "512MB"], /--max-memory .* got 512MB/],
  [["w.ts", "--grace-ms", "8s"], /--grace-ms .* got 8s/],
  [["w.ts", "--token", "cvy_cut"], /no worker token/],
  [["w.ts", "--url", "ftp://x"], /--url must be an address .* got ftp:/],
])("%j is refused with the rule", (args, rule) => {
  const read = () => readWorkOptions(args);
  expect(read).toThrow(rule);
  expect(read).toThrow(UsageError);
});
