import { afterEach, describe, expect, test } from "vitest";
import type { Child } from "./child.js";
import { Children } from "./children.js";

const started: Child[] = [];

/** A small program, given as text. */
function program(source: string): [name: string, nodeArguments: string[]] {
  return ["The program", ["--input-type=module", "--eval", source]];
}

function start(children: Children, source: string): Child {
  const child = children.start(...program(source));
  started.push(child);
  return child;
}

afterEach(async () => {
  for (const child of started.splice(0)) {
    child.signal("SIGKILL");
    await child.ended;
  }
});

describe("a started program", () => {
  test("is ready when it says so, also if it said so before the first listener", async () => {
    const child = start(new Children(), `console.log("port 12"); setInterval(() => {}, 1000)`);
    expect((await child.saying(/port (\d+)/))[1]).toBe("12");
    expect((await child.saying(/port (\d+)/))[1]).toBe("12");
  });

  test("that ends before it is ready is reported with its last words, not waited for", async () => {
    const child = start(new Children(), `console.error("no such key"); process.exit(3)`);
    await expect(child.saying(/ready/)).rejects.toThrow(
      "The program ended with code 3 before it was ready:\nno such key",
    );
  });

  test("is reported without its standard output: a backend prints its admin key", async () => {
    const child = start(
      new Children(),
      `console.log("KEY='secret'"); console.error("disk full"); process.exit(3)`,
    );
    await child.ended;
    expect(child.lastWords).toBe("disk full");
    await expect(child.saying(/ready/)).rejects.toThrow(
      /^The program ended with code 3 before it was ready:\ndisk full$/,
    );
  });

  test("that was killed without a word is said to have left none", async () => {
    const child = start(new Children(), `console.log("up"); setInterval(() => {}, 1000)`);
    await child.saying(/up/);
    child.signal("SIGKILL");
    await child.ended;
    expect(child.lastWords).toBe("(It left no error message.)");
  });

  test("that fails names its exit code and its output", async () => {
    const failing = new Children().run(...program(`console.error("boom"); process.exit(2)`));
    await expect(failing).rejects.toThrow("The program ended with code 2:\nboom");
  });
});

describe("stopping", () => {
  test("lets programs finish, and the first started, on which the rest depends, goes last", async () => {
    const children = new Children();
    const stops = (name: string) => `
      process.on("SIGTERM", () => { console.log("bye from ${name}"); process.exit(0); });
      console.log("up"); setInterval(() => {}, 1000);`;
    const first = start(children, stops("first"));
    const second = start(children, stops("second"));
    await Promise.all([first.saying(/up/), second.saying(/up/)]);
    const order: string[] = [];
    for (const child of [first, second]) {
      child.onLine((line) => {
        if (line.startsWith("bye")) order.push(line);
      });
    }
    await children.stopAll();
    expect(order).toEqual(["bye from second", "bye from first"]);
    expect([await first.ended, await second.ended]).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
  });

  test("during a start ends the start, so that no program is started that would never be stopped", async () => {
    const children = new Children();
    await children.stopAll();
    expect(() => children.start(...program(""))).toThrow("Stopped before");
  });
});
