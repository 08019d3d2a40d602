/** All programs that were started, so that all of them are stopped. */
import { Child, describe } from "./child.js";

/** A worker may finish the tiles it holds. Longer than a tile takes, shorter than people wait. */
const GRACE_MS = 8_000;

export class Children {
  private readonly started: Child[] = [];
  private stopping = false;

  /** Starts a program that runs until it is stopped. */
  start(...child: ConstructorParameters<typeof Child>): Child {
    if (this.stopping) throw new Error("Stopped before everything had started.");
    const started = new Child(...child);
    this.started.push(started);
    return started;
  }

  /** Runs a program to its end and returns its output. Throws the output if it fails. */
  async run(...child: ConstructorParameters<typeof Child>): Promise<string> {
    const started = this.start(...child);
    const ending = await started.ended;
    if (ending.code === 0) return started.output;
    throw new Error(`${started.name} ${describe(ending)}:\n${started.output}`);
  }

  /** From now on nothing new starts: a step that is under way ends the start instead. */
  refuseMore(): void {
    this.stopping = true;
  }

  get isStopping(): boolean {
    return this.stopping;
  }

  /**
   * Stops the last started first, as each needs the earlier ones: workers report to the backend until they are gone.
   * Programs of one name are alike and are stopped together.
   */
  async stopAll(): Promise<void> {
    this.stopping = true;
    const [first, ...others] = this.started;
    await Promise.all(others.map(stop));
    if (first !== undefined) await stop(first);
  }

  killAll(): void {
    for (const child of this.started) child.signal("SIGKILL");
  }
}

async function stop(child: Child): Promise<void> {
  if (!child.alive) return;
  child.signal("SIGTERM");
  const timer = setTimeout(() => child.signal("SIGKILL"), GRACE_MS);
  await child.ended;
  clearTimeout(timer);
}
