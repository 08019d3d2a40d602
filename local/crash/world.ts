/**
 * A backend as a process of its own, on one port and one data folder, that is killed and started again; and the official
 * CLI's push to it, once.
 */
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { convex, PUSH } from "../push/testing.js";
import type { Program } from "../testing.js";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ADMIN_KEY = "local|crash";

/** Starts a backend with these arguments, as `local/main.ts` takes them. */
export type Start = (...args: string[]) => Program;

export class World {
  #program: Program | null = null;
  #url = "";

  private constructor(
    private readonly start: Start,
    private readonly folder: string,
  ) {}

  static async create(start: Start): Promise<World> {
    const world = new World(start, await mkdtemp(join(tmpdir(), "conveyor-crash-")));
    try {
      await world.restart();
      await world.#push();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  get url(): string {
    return this.#url;
  }

  /** All that the running backend has printed. */
  get printed(): string {
    return this.#program?.output.text ?? "";
  }

  /** On the same port and the same data. Resolves when it serves. */
  async restart(): Promise<void> {
    this.begin();
    const [, url] = await this.#program!.printed(/CONVEX_SELF_HOSTED_URL='(\S+)'\n/);
    this.#url = url!;
  }

  /** As `restart`, without waiting. */
  begin(): void {
    const port = this.#url === "" ? "0" : new URL(this.#url).port;
    const data = join(this.folder, "data");
    const options = ["--port", port, "--data", data, "--admin-key", ADMIN_KEY, "--quiet"];
    this.#program = this.start(...options);
  }

  async kill(): Promise<void> {
    this.#program?.child.kill("SIGKILL");
    await this.#program?.exited;
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #push(): Promise<void> {
    const app = join(this.folder, "app");
    await cp(join(HERE, "app"), app, { recursive: true });
    await symlink(join(HERE, "../../node_modules"), join(app, "node_modules"));
    const backend = { url: this.#url, adminKey: ADMIN_KEY };
    const run = await convex(backend, app, ...PUSH, "--typecheck", "disable");
    if (run.code !== 0) throw new Error(`The app could not be pushed:\n${run.stderr}`);
  }
}
