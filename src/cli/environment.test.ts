/** The address and the token of workers: where they come from, what is asked, and what is written. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { workEnvironment, type Terminal } from "./environment.js";

const URL_GIVEN = "https://happy-otter-123.convex.cloud";
const TOKEN = `cvy_0123abcd_${"0".repeat(64)}`;

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "conveyor-env-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = () => path.join(folder, ".env.local");
const noTerminal: Terminal = { input: new PassThrough(), output: new PassThrough() };

/** A person who types an answer at each question. */
function terminal(...answers: string[]) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  let shown = "";
  let answered = 0;
  output.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
    const asked = shown.split("): ").length - 1;
    if (asked > answered) setImmediate(() => input.write(`${answers[answered++] ?? ""}\r`));
  });
  return { terminal: { input, output }, shown: () => shown };
}

describe("without a terminal", () => {
  const run = (given: object) =>
    workEnvironment({ folder, environment: {}, terminal: noTerminal, ...given });

  test("flags come before the environment, and that before the file", async () => {
    writeFileSync(
      file(),
      `CONVEX_URL=http://file:1\nCONVEYOR_TOKEN=${TOKEN} # mine\nOTHER="a b"\n`,
    );
    const environment = { CONVEX_URL: "http://environment:2", OTHER: "" };
    expect(await run({})).toEqual({
      ...{ CONVEX_URL: "http://file:1", CONVEYOR_TOKEN: TOKEN, OTHER: "a b" },
    });
    expect((await run({ environment })).CONVEX_URL).toBe("http://environment:2");
    expect((await run({ environment, url: "http://flag:3/" })).CONVEX_URL).toBe("http://flag:3");
  });

  test("a variable of the environment is not given again with the value of the file", async () => {
    writeFileSync(file(), `OTHER=file\n`);
    const environment = { CONVEX_URL: URL_GIVEN, CONVEYOR_TOKEN: TOKEN, OTHER: "environment" };
    expect(await run({ environment })).not.toHaveProperty("OTHER");
  });

  test("the address is also found under the name that a framework gives it", async () => {
    writeFileSync(file(), `VITE_CONVEX_URL=${URL_GIVEN}\n`);
    expect(await run({ token: TOKEN })).toMatchObject({ CONVEX_URL: URL_GIVEN });
  });

  test("the environment comes before the file whatever the names, and an empty variable counts as none", async () => {
    writeFileSync(file(), `CONVEX_URL=http://file:1\nCONVEYOR_TOKEN=${TOKEN}\n`);
    const named = { CONVEX_URL: "", VITE_CONVEX_URL: "http://environment:2", CONVEYOR_TOKEN: "" };
    expect(await run({ environment: named })).toEqual({
      ...{ CONVEX_URL: "http://environment:2", CONVEYOR_TOKEN: TOKEN },
    });
  });

  test("all that is missing is named at once, with the ways to give it", async () => {
    await expect(run({})).rejects.toThrow(
      /CONVEX_URL, or give --url.*\n.*CONVEYOR_TOKEN.*operate:createToken.*\nIn a terminal/,
    );
    await expect(run({ url: URL_GIVEN })).rejects.toThrow(/^(?!.*--url)[^]*CONVEYOR_TOKEN/);
  });

  test("an address of HTTP actions, and a token that is none, are refused", async () => {
    const url = "https://happy-otter-123.convex.site";
    await expect(run({ url, token: TOKEN })).rejects.toThrow(/ends with .convex.cloud/);
    await expect(run({ url: URL_GIVEN, token: "secret" })).rejects.toThrow(/no worker token/);
    expect(() => statSync(file())).toThrow(/ENOENT/);
  });
});

describe("at a terminal", () => {
  // Shows LF-40.
  test("what is missing is asked for and written, for the owner alone; the token is not shown", async () => {
    const { terminal: at, shown } = terminal(URL_GIVEN, TOKEN);
    const given = { folder, environment: {}, terminal: at };
    expect(await workEnvironment(given)).toEqual({ CONVEX_URL: URL_GIVEN, CONVEYOR_TOKEN: TOKEN });
    expect(readFileSync(file(), "utf8")).toBe(`CONVEX_URL=${URL_GIVEN}\nCONVEYOR_TOKEN=${TOKEN}\n`);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(shown()).toContain(URL_GIVEN);
    expect(shown()).not.toContain(TOKEN.slice(4));
    // The next time nothing is asked.
    expect(await workEnvironment({ ...given, terminal: noTerminal })).toMatchObject({
      CONVEYOR_TOKEN: TOKEN,
    });
  });

  test("what the file has stays as it is, also without a line end", async () => {
    writeFileSync(file(), `CONVEX_URL=${URL_GIVEN}\n# a note`, { mode: 0o644 });
    await workEnvironment({ folder, environment: {}, ...terminal(TOKEN) });
    const text = `CONVEX_URL=${URL_GIVEN}\n# a note\nCONVEYOR_TOKEN=${TOKEN}\n`;
    expect(readFileSync(file(), "utf8")).toBe(text);
    // It has a secret now.
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  test("a wrong answer is told and asked again, and the third one ends it with nothing written", async () => {
    const { terminal: at, shown } = terminal("happy-otter", "ftp://x", URL_GIVEN, TOKEN);
    const first = await workEnvironment({ folder, environment: {}, terminal: at });
    expect(first.CONVEX_URL).toBe(URL_GIVEN);
    expect(shown()).toContain("got happy-otter");
    rmSync(file());
    const wrong = terminal(URL_GIVEN, "a", "b", `${TOKEN}\\nX=1`);
    const second = workEnvironment({ folder, environment: {}, terminal: wrong.terminal });
    await expect(second).rejects.toThrow(/no worker token/);
    expect(() => statSync(file())).toThrow(/ENOENT/);
  });
});
