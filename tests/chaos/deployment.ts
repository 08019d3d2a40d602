/** The test app on a backend that is a process of its own, on one port and one data folder: it is killed and started again. */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pushApp, type PushedApp } from "../support/testApp.js";
import { runWith, type Program } from "../../local/testing.js";

const ADMIN_KEY = "local|chaos";
const PROGRAM = fileURLToPath(new URL("backend.ts", import.meta.url));
const ANY = "unlimited";

export class Deployment {
  #program: Program | null = null;
  url = "";
  app!: PushedApp;

  private constructor(private readonly folder: string) {}

  static async start(clockShiftMs = 0): Promise<Deployment> {
    const deployment = new Deployment(await mkdtemp(join(tmpdir(), "conveyor-chaos-")));
    try {
      await deployment.restart(clockShiftMs);
      deployment.app = await pushApp({ url: deployment.url, adminKey: ADMIN_KEY });
      return deployment;
    } catch (error) {
      await deployment.close();
      throw error;
    }
  }

  /** All that the running process has printed. */
  get printed(): string {
    return this.#program?.output.text ?? "";
  }

  /** On the same port and the same data. Resolves when it serves. */
  async restart(clockShiftMs = 0): Promise<void> {
    await this.kill();
    const port = this.url === "" ? "0" : new URL(this.url).port;
    const options = ["--port", port, "--data", join(this.folder, "data"), "--admin-key", ADMIN_KEY];
    const env = { CLOCK_SHIFT_MS: String(clockShiftMs) };
    this.#program = runWith(env, PROGRAM, ...options, "--quiet");
    const [, url] = await this.#program.printed(/CONVEX_SELF_HOSTED_URL='(\S+)'\n/);
    this.url = url!;
  }

  async kill(): Promise<void> {
    this.#program?.child.kill("SIGKILL");
    await this.#program?.exited;
  }

  /**
   * From now on no byte can be written to any file, and later again. A full disk of one process: the kernel's limit of a
   * file's size needs no privileges, and SQLite fails to write as it does without space.
   */
  diskIs(state: "full" | "free"): void {
    const soft = state === "full" ? "0" : ANY;
    execFileSync("prlimit", ["--pid", String(this.#program!.child.pid), `--fsize=${soft}:`]);
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
