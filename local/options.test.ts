import { expect, test } from "vitest";
import { readOptions } from "./options.js";

test("without options it listens on loopback, port 3210, with a key of its own, and prints logs", () => {
  expect(readOptions([])).toEqual({
    port: 3210,
    host: "127.0.0.1",
    adminKey: undefined,
    quiet: false,
  });
});

test("every option is taken as given", () => {
  const args = ["--port", "0", "--host", "::1", "--admin-key", "k", "--quiet"];
  expect(readOptions(args)).toEqual({ port: 0, host: "::1", adminKey: "k", quiet: true });
});

test("help is asked for by --help, whatever else is", () => {
  expect(readOptions(["--port", "nonsense", "--help"])).toBe("help");
});

test.each(["nonsense", "-1", "65536", "3.5"])("the port %s is refused with the rule", (port) => {
  expect(() => readOptions([`--port=${port}`])).toThrow(/0 to 65535/);
});

test("an unknown option is refused with what there is", () => {
  expect(() => readOptions(["--prot", "3210"])).toThrow(/--port <number>/);
});
