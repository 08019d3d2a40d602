import { expect, test } from "vitest";
import { readOptions } from "./options.js";

test("without options it listens on loopback, port 3210, keeps its data in the folder it is started in, and prints logs", () => {
  expect(readOptions([])).toEqual({
    port: 3210,
    sitePort: undefined,
    host: "127.0.0.1",
    adminKey: undefined,
    data: ".conveyor-local",
    class: "s16",
    quiet: false,
    stats: false,
  });
});

test("every option is taken as given", () => {
  const ports = ["--port", "0", "--site-port", "3299"];
  const args = [
    "--host",
    "::1",
    "--admin-key",
    "k",
    "--class",
    "D1024",
    "--quiet",
    "--data",
    "d",
    "--stats",
  ];
  expect(readOptions([...ports, ...args])).toEqual({
    port: 0,
    sitePort: 3299,
    host: "::1",
    adminKey: "k",
    data: "d",
    class: "d1024",
    quiet: true,
    stats: true,
  });
});

test("--in-memory keeps nothing, and goes with no folder", () => {
  expect(readOptions(["--in-memory"])).toMatchObject({ data: undefined });
  expect(() => readOptions(["--in-memory", "--data", "d"])).toThrow(/got both, with "d"/);
  expect(() => readOptions(["--data="])).toThrow(/must name a folder/);
});

test("help is asked for by --help, beside any other options", () => {
  expect(readOptions(["--port", "nonsense", "--help"])).toBe("help");
});

test.each(["nonsense", "-1", "65536", "3.5"])("the port %s is refused with the rule", (port) => {
  expect(() => readOptions([`--port=${port}`])).toThrow(/0 to 65535/);
});

test("a class that does not exist is refused with a list of the classes", () => {
  expect(() => readOptions(["--class", "S8"])).toThrow(/S16, S256, D1024, D2048, got "S8"/);
});

test("an unknown option is refused with a list of the options", () => {
  expect(() => readOptions(["--prot", "3210"])).toThrow(/--port <number>/);
});
