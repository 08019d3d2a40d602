/** One step, done to the component and to the model; both must give the same answer. */
import { app, type World } from "../../src/component/setup.test.js";
import { AppSide } from "./appSide.js";
import type { Command } from "./commands.js";
import { follow } from "./follow.js";
import type { Session } from "./jobs.js";
import type { Model } from "./model.js";
import { pick } from "./same.js";
import { Numbers, WorkerSide } from "./workerSide.js";
import { pass, settle, type Seen } from "./world.js";

/** A model beside a component, and the state of both. */
export class Pair {
  private readonly app: AppSide;
  private readonly workers: WorkerSide;
  /** The last session of each worker. */
  private readonly current: Session[];
  private throws = 0;

  constructor(
    private readonly world: World,
    readonly model: Model,
  ) {
    const numbers = new Numbers();
    this.app = new AppSide(world, model, numbers);
    this.workers = new WorkerSide(world, model, numbers);
    this.current = ["ann", "bob", "cyd"].map((name) => this.workers.begin(name));
    app.onComplete = () => {
      if (this.throws === 0) return;
      this.throws -= 1;
      throw new Error("The app's callback throws.");
    };
  }

  /** Does the step, lets all that is due run, and compares. */
  async step(command: Command): Promise<Seen> {
    await this.perform(command);
    const seen = await settle(this.world);
    follow(this.model, seen, Date.now());
    return seen;
  }

  private async perform(command: Command): Promise<void> {
    switch (command.do) {
      case "enqueue":
        return await this.app.enqueue(command.jobs);
      case "replace":
        return await this.app.replace(command.job, command.by);
      case "claim":
        return await this.workers.claim(pick(this.current, command.worker), command.wants);
      case "complete":
        return await this.workers.complete(pick(this.current, command.worker), command);
      case "takeBack":
        return await this.workers.takeBack(pick(this.current, command.worker), command.ends);
      case "configure":
        return await this.app.configure(command.overrides);
      case "resetConfig":
        return await this.app.resetConfig(command.fields);
      case "late":
        return await this.workers.late(command);
      case "repeat":
        return await this.workers.repeat(pick(this.current, command.worker));
      case "stale":
        return await this.workers.stale(pick(this.current, command.worker));
      case "beat":
        return await this.workers.beat(pick(this.current, command.worker), command.names);
      case "newSession": {
        const i = command.worker % this.current.length;
        this.current[i] = this.workers.begin(this.current[i]!.name);
        return;
      }
      case "pass":
        return await pass(this.world, command.ms);
      case "throw":
        this.throws = command.times;
        return;
      case "hasWork":
        return await this.workers.hasWork(this.current[0]!, command.wants);
      case "pauseQueue":
      case "drainQueue":
      case "resumeQueue":
        return await this.app.control(command.do);
      case "many":
        return await this.app.many(command.action, command.filter);
      default: {
        const job = pick(this.model.there, command.job);
        if (job !== undefined) await this.app.one(command.do, job);
      }
    }
  }

  /** Lets everything come to rest. Returns the state then. */
  async rest(): Promise<Seen> {
    this.throws = 0;
    const last = this.workers.begin("zoe");
    this.current.splice(0, Infinity, last);
    if (this.model.isDeclared) await this.step({ do: "resumeQueue" });
    for (const job of this.model.there) if (job.paused) await this.app.one("resumeJob", job);
    const wants = { max: 64, labels: ["a", "b"] };
    for (let turn = 0; turn < 3; turn += 1) {
      await this.step({ do: "claim", worker: 0, wants });
      const ends = last.leases.map((_, lease) => END(lease));
      if (ends.length > 0) {
        await this.step({ do: "complete", worker: 0, ends, deferCallbacks: false });
      }
      await this.step({ do: "pass", ms: 20_000 });
    }
    await this.step({ do: "many", action: "cancel", filter: {} });
    let seen: Seen | null = null;
    for (const ms of [10_000, 60_000, 120_000, 400_000]) {
      seen = await this.step({ do: "pass", ms });
    }
    return seen!;
  }
}

const END = (lease: number) => ({ lease, kind: "succeeded" as const, ms: 0, continued: [] });
