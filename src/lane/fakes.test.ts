/** For tests of lanes and processes: their jobs, their starts, and a scripted component. */
import { expect, test } from "vitest";
import {
  COMPONENT_VERSION,
  type HandedOver,
  type LaneJob,
  type LaneReply,
  type LaneStart,
  type ProcessStart,
} from "../shared/index.js";
import type { Clock } from "../worker/clock.js";
import { FakeClock } from "../worker/fakes.test.js";
import { runProcess, type ProcessCalls, type StepReport } from "./index.js";

export const job = (id: string, kind: "action" | "mutation" = "action"): LaneJob => ({
  job: {
    ...{ id, queue: "emails", payload: {}, attempt: 1, failures: 0, resets: 0 },
    ...{ leaseMs: 20_000, enqueuedAt: 0 },
  },
  handler: { kind, handle: "function://;work", takes: "payload" },
});

export const start = (...jobs: LaneJob[]): LaneStart => laneOf("lane", ...jobs);

export const laneOf = (lane: string, ...jobs: LaneJob[]): LaneStart => ({
  ...{ lane, generation: 1, callSeq: 1, jobs },
});

export const nothing: LaneReply = { answers: [], jobs: [], lookAfterMs: null, isOver: true };

export const heardOf = ({ finished, execute }: StepReport): LaneReply["answers"] =>
  [...finished, ...execute].map(({ id, attempt }) => ({ id, attempt, answer: "ok" }));

export const handedOver = (upTo: number, ...lanes: LaneStart[]): HandedOver => ({
  ...{ lanes, upTo: BigInt(upTo), areWaiting: false },
});

/** A process of these lanes, with as many places. */
export function processOf(
  lanes: LaneStart[],
  said: { places?: number; receives?: boolean; share?: number } = {},
): ProcessStart {
  const { places = 48, receives = false, ...rest } = said;
  return {
    ...{ process: "process", generation: 3, openedAt: Date.now(), version: COMPONENT_VERSION },
    ...{ places, receives, lanes, ...rest },
  };
}

/** The calls of a process that runs one lane, and to which nothing is handed over. */
export const ALONE: Omit<ProcessCalls, "step" | "apart" | "run"> = {
  look: ({ upTo }) => Promise.resolve({ lanes: [], upTo, areWaiting: false }),
  ask: () => Promise.resolve(0),
  close: () => Promise.resolve({ isClosed: true }),
  tend: () => Promise.resolve({ isLate: false }),
  rouse: () => Promise.resolve(null),
};

/** Each job that goes apart is over at once. */
export const answered: ProcessCalls["apart"] = ({ id, attempt }) =>
  Promise.resolve({ id, attempt, answer: "ok" });

/** A process that runs one lane. */
export async function runOne(
  calls: Pick<ProcessCalls, "step" | "apart" | "run">,
  lane: LaneStart,
  clock?: Clock,
): Promise<void> {
  const given = clock === undefined ? {} : { clock };
  await runProcess({ ...ALONE, ...calls }, processOf([lane]), given);
}

/** A process with jobs that run until the test ends them, and the calls that it has made. */
export class FakeProcess {
  readonly clock = new FakeClock();
  readonly steps: StepReport[] = [];
  /** Calls other than steps, each with its time. */
  readonly asked: {
    at: number;
    call: "look" | "ask" | "close" | "tend" | "rouse";
    args: unknown;
  }[] = [];
  /** Jobs that run, in the order in which they began. */
  readonly running: string[] = [];
  isOver = false;
  private readonly ends = new Map<string, () => void>();

  /** By default a lane leaves when it has reported all, and the process ends with the last. */
  step: (args: StepReport, calls: number) => LaneReply = (args) => ({
    ...{ ...nothing, answers: heardOf(args) },
    ...(args.in?.closes === true ? { isClosed: true } : {}),
  });
  ask: (args: { any: number; few: number }) => number = () => 0;
  look: (upTo: bigint) => HandedOver = (upTo) => ({ lanes: [], upTo, areWaiting: false });
  /** How many calls of `tend` find something to do. */
  tends = 0;
  close: () => { isClosed: boolean; handedOver?: HandedOver } = () => ({ isClosed: true });
  rouse: (calls: number) => void = () => undefined;

  async start(start: ProcessStart, isInline = false): Promise<void> {
    const { clock } = this;
    void runProcess(this.calls(), start, { clock, isInline }).then(() => (this.isOver = true));
    await clock.advance(0);
  }

  /** Ends a job, and lets pass its immediate consequences and reports. */
  async end(...ids: string[]): Promise<void> {
    for (const id of ids) this.ends.get(id)!();
    await this.clock.advance(25);
  }

  countOf(call: "look" | "ask" | "close" | "tend" | "rouse"): number {
    return this.asked.filter((one) => one.call === call).length;
  }

  private calls(): ProcessCalls {
    const note = (call: "look" | "ask" | "close" | "tend" | "rouse", args: unknown) =>
      void this.asked.push({ at: this.clock.now(), call, args });
    return {
      step: async (args) => {
        this.steps.push(args);
        return await Promise.resolve(this.step(args, this.steps.length));
      },
      apart: answered,
      run: ({ job: { id } }) =>
        new Promise((resolve) => {
          this.running.push(id);
          this.ends.set(id, () => {
            this.running.splice(this.running.indexOf(id), 1);
            resolve({ outcome: { kind: "succeeded", result: null } });
          });
        }),
      look: async (args) => {
        note("look", args);
        return await Promise.resolve(this.look(args.upTo));
      },
      ask: async (args) => {
        note("ask", args);
        return await Promise.resolve(this.ask(args));
      },
      tend: async () => {
        note("tend", null);
        return await Promise.resolve({ isLate: (this.tends -= 1) > 0 });
      },
      close: async (args) => {
        note("close", args);
        return await Promise.resolve(this.close());
      },
      rouse: async (args) => {
        note("rouse", args);
        return await Promise.resolve(this.rouse(this.countOf("rouse")));
      },
    };
  }
}

test("a process of the fakes ends with its only job", async () => {
  const fake = new FakeProcess();
  await fake.start(processOf([start(job("a"))]));
  expect(fake.running).toEqual(["a"]);
  await fake.end("a");
  expect(fake.isOver).toBe(true);
});
