/** Processes that play seeds, one for each core: a process that damages itself hurts no other. */
import { fork, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "../support/programBundle.js";
import type { Bug } from "../planted/change.js";
import { isLarge } from "./large.js";
import type { Answer, Ask } from "./player.js";
import type { SeedOptions, SeedReport } from "./seeds.js";

/** A seed that takes longer on the wall clock is stuck: the longest take some seconds, large worlds some minutes. */
const STUCK_MS = 120_000;
const LARGE_STUCK_MS = 1_800_000;
/**
 * A process is replaced after so many seeds, which gives its memory back: Node 20 keeps every context in which a module was
 * evaluated, some 4 MB each. A process had 3 to 4 GB after 95 seeds, and V8's heap ends at 4 GB.
 */
const SEEDS_PER_PROCESS = 60;

/**
 * A seed's objects are thrown away soon: with 64 MB for young objects 120 seeds took 51 s, with Node's 16 MB 59 s.
 */
const EXEC_ARGV = [
  ...["--experimental-vm-modules", "--no-warnings", "--enable-source-maps"],
  "--max-semi-space-size=64",
];
const PLAYER = fileURLToPath(new URL("player.ts", import.meta.url));

/** Once for all players of this process. */
let bundle: Promise<string> | undefined;

/** The result of a seed: a report, or the reason why there is none. */
export type Outcome = { seed: number; report: SeedReport } | { seed: number; error: string };

export class Players {
  readonly #players: Player[];

  constructor(bugs: readonly Bug[] = [], count: number = availableParallelism()) {
    this.#players = Array.from({ length: count }, () => new Player(bugs));
  }

  /** Plays the seeds that `next` gives until it gives none. `told` receives them in the order in which they end. */
  async play(
    next: () => number | undefined,
    told: (outcome: Outcome) => void,
    options: SeedOptions = {},
  ): Promise<void> {
    await Promise.all(
      this.#players.map(async (player) => {
        for (let seed = next(); seed !== undefined; seed = next()) {
          told(await player.play({ seed, ...options }));
        }
      }),
    );
  }

  /** Other bugs from now on, in the same processes. */
  plant(bugs: readonly Bug[]): void {
    for (const player of this.#players) player.plant(bugs);
  }

  /** One alone. */
  async one(seed: number, options: SeedOptions): Promise<Outcome> {
    return await this.#players[0]!.play({ seed, ...options });
  }

  close(): void {
    for (const player of this.#players) player.close();
  }
}

class Player {
  #child: ChildProcess | undefined;
  #played = 0;

  constructor(private bugs: readonly Bug[]) {}

  plant(bugs: readonly Bug[]): void {
    this.bugs = bugs;
    this.#child?.send({ bugs });
  }

  async play(ask: Ask): Promise<Outcome> {
    const { seed } = ask;
    if (this.#played >= SEEDS_PER_PROCESS) this.close();
    const program = await (bundle ??= bundleProgram(PLAYER));
    const child = (this.#child ??= this.#start(program));
    this.#played += 1;
    const stuckMs = isLarge(seed) ? LARGE_STUCK_MS : STUCK_MS;
    return await new Promise((resolve) => {
      const end = (outcome: Outcome) => {
        clearTimeout(stuck);
        child.off("message", answered).off("exit", gone);
        resolve(outcome);
      };
      const answered = (answer: Answer) => end({ seed, ...answer });
      const gone = (code: number | null) => {
        this.#child = undefined;
        end({ seed, error: `The process that played it has ended with ${String(code)}.` });
      };
      const stuck = setTimeout(() => {
        child.kill("SIGKILL");
        this.#child = undefined;
        end({ seed, error: `It did not end within ${stuckMs / 1_000} s.` });
      }, stuckMs);
      child.on("message", answered).on("exit", gone);
      child.send(ask);
    });
  }

  close(): void {
    this.#child?.removeAllListeners("exit");
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
    this.#played = 0;
  }

  #start(program: string): ChildProcess {
    const child = fork(program, {
      execArgv: EXEC_ARGV,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.send({ bugs: this.bugs });
    return child;
  }
}
