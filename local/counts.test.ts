import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test.each(["package.json", "../package.json"])(
  "the deep run of %s plays the many, and other runs the few",
  async (file) => {
    const { scripts } = JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")) as {
      scripts: Record<string, string>;
    };
    const [, name, value] = /^(\w+)=(\w+) npm run test:long$/.exec(scripts["test:deep"]!)!;
    const read = async () => (await import("./counts.js")).counts("few", "many");
    expect(await read()).toBe("few");
    vi.resetModules();
    vi.stubEnv(name!, value);
    expect(await read()).toBe("many");
  },
);
