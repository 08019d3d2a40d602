/**
 * A module for processes of a pool, without a deployment: its worker does as `POOL_MODES` says for the number of its process,
 * and is ready at once.
 */
import { poolLink, type PooledWorker } from "../../../src/worker/pooled.js";
import type { WorkerState } from "../../../src/worker/events.js";

export type Mode =
  | "works"
  /** Its module throws. */
  | "broken"
  /** It has no worker. */
  | "empty"
  /** It never hears from its deployment. */
  | "offline"
  /** It throws outside its handlers, when it is ready. */
  | "throws"
  /** It has enough when it is ready. */
  | "finishes"
  /** It blocks its thread for ever, when it is ready. */
  | "blocks"
  /** It hears no message. */
  | "deaf"
  /** It takes 300 MB. */
  | "grows"
  /** It hears that it is to stop, by message and by signal, and goes on. */
  | "stubborn"
  /** It has cut its line to the pool. */
  | "cut"
  /** It says words that are no message of the pool's. */
  | "babbles"
  /** One of its two workers is refused when it is ready, and the other has a job in hand. */
  | "refused";

class FakeWorker implements PooledWorker {
  private state: WorkerState = "starting";
  private isQuiet = false;
  private listener = (_: { state: WorkerState }) => {};
  private end = () => {};
  private readonly ended = new Promise<void>((resolve) => (this.end = resolve));

  constructor(private readonly mode: Mode) {}

  /** A quiet one has no slot, so that a pool can see it. */
  get status() {
    return { state: this.state, slots: { used: 0, had: this.isQuiet ? 0 : 2 }, done: 7 };
  }

  on(_: "state", listener: (event: { state: WorkerState }) => void): void {
    this.listener = listener;
  }

  quiet(): void {
    this.isQuiet = true;
  }

  resume(): void {
    this.isQuiet = false;
  }

  async run(): Promise<void> {
    if (this.mode !== "offline") this.become("waiting");
    if (this.mode === "refused") {
      await new Promise((resolve) => setTimeout(resolve, 10));
      throw new Error("The queue is forbidden.");
    }
    await this.ended;
  }

  async stop(): Promise<void> {
    if (this.mode === "stubborn") return;
    this.become("stopped");
    this.end();
  }

  private become(state: WorkerState): void {
    this.state = state;
    this.listener({ state });
  }
}

/** Its job is done when it has stopped. */
class BusyWorker extends FakeWorker {
  override async stop(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => process.send!({ type: "jobDone" }, resolve));
    await super.stop();
  }
}

const link = poolLink()!;
const number = link.nameOf(undefined).split(":").at(-1)!;
const modes = JSON.parse(process.env["POOL_MODES"]!) as Record<string, Mode>;
const mode = modes[number] ?? modes["rest"] ?? "works";

if (mode === "broken") throw new Error("The module is broken.");
const worker = new FakeWorker(mode);
if (mode !== "empty") {
  link.register(worker);
  if (mode === "refused") link.register(new BusyWorker("works"));
  else void worker.run();
}

/** When the pool has heard that it is ready. */
const then = (run: () => void) => void setTimeout(run, 10);
if (mode === "throws") then(() => expectNothing("of this"));
if (mode === "finishes") then(() => void worker.stop());
if (mode === "blocks") then(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
if (mode === "deaf") process.removeAllListeners("message");
// A listener keeps it: a local of a module may be collected once the module is loaded.
if (mode === "grows") process.on("exit", hold.bind(null, Buffer.alloc(300e6, 1)));
if (mode === "stubborn") {
  process.removeAllListeners("SIGTERM");
  process.on("SIGTERM", () => {});
  // A line that is cut does not end it either.
  process.removeAllListeners("disconnect");
  setInterval(() => {}, 1_000_000);
}
if (mode === "cut") {
  process.removeAllListeners("disconnect");
  then(() => process.disconnect());
  setInterval(() => {}, 1_000_000);
}
if (mode === "babbles") {
  const malformed = { type: "ready", load: { state: 7 } };
  const words = [null, 7, "rain", {}, { type: "weather" }, { type: "acknowledged", id: 1 }];
  for (const word of [...words, malformed]) process.send!(word);
}

function expectNothing(what: string): never {
  throw new Error(`Nothing expects an error ${what}.`);
}

function hold(_: Buffer): void {}
