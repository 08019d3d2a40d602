/**
 * Files of tests that share a thread: they begin sooner, and find the code of the package and of its mocks compiled. A file has its
 * own copy of all modules of tests, so hooks and state in them are its own. A file that mocks a module has its own copy of all: it
 * empties the cache itself, below its mocks. Before them, calls of the last file that are still under way would load modules anew,
 * with the real module in the place of the mocked one.
 */
import { readFileSync } from "node:fs";
import { TestRunner, vi } from "vitest";

const OF_TESTS = /\.test\.tsx?$/;
const MOCKS = /\bvi\.mock\(/;
const RESETS = /\bvi\.(mock|doMock|resetModules)\(/;
const BELOW_MOCKS = "vi.hoisted(() => vi.resetModules());";

interface Evaluated {
  fileToModulesMap: ReadonlyMap<string, ReadonlySet<object>>;
  invalidateModule(module: object): void;
}

export default class SharedThread extends TestRunner {
  private mocks = false;

  override importFile(file: string, source: "collect" | "setup"): unknown {
    if (source === "collect") this.begin(file);
    return super.importFile(file, source);
  }

  override onAfterRunFiles(): void {
    super.onAfterRunFiles();
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
    if (this.mocks) vi.resetModules();
  }

  private begin(file: string): void {
    const text = readFileSync(file, "utf8");
    this.mocks = RESETS.test(text);
    if (MOCKS.test(text) && !text.includes(BELOW_MOCKS))
      throw new Error(`${file} mocks a module. Write below its mocks: ${BELOW_MOCKS}`);
    if (this.mocks) vi.resetModules();
    const { evaluatedModules } = (
      this as unknown as { workerState: { evaluatedModules: Evaluated } }
    ).workerState;
    for (const [path, modules] of evaluatedModules.fileToModulesMap) {
      if (!OF_TESTS.test(path)) continue;
      for (const module of modules) evaluatedModules.invalidateModule(module);
    }
  }
}
