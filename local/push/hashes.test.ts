import { describe, expect, test } from "vitest";
import type { ModuleSource } from "../functions/types.js";
import { completeModules, hashesOf, hashOf } from "./hashes.js";

const lib: ModuleSource = { path: "lib.js", source: "export {}", environment: "isolate" };
const deployed = new Map([[lib.path, lib]]);

describe("modules that the CLI leaves out as unchanged", () => {
  test("are taken from the last push", () => {
    const changed = { ...lib, path: "new.js" };
    const modules = completeModules([changed], hashesOf([lib]), deployed);
    expect([...modules.keys()].sort()).toEqual(["lib.js", "new.js"]);
    expect(modules.get("lib.js")).toBe(lib);
  });

  test("must still be as the CLI believes, or the push starts again", () => {
    const believed = hashesOf([{ ...lib, source: "export const older = 1" }]);
    expect(() => completeModules([], believed, deployed)).toThrow(
      expect.objectContaining({ code: "RaceDetected" }) as Error,
    );
  });

  test("are distinguished by their source maps too, as the CLI does", () => {
    expect(hashOf({ ...lib, sourceMap: "{}" })).not.toBe(hashOf(lib));
  });
});
