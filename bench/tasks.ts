/** All runs of a benchmark, and the processes that play them. */
import { availableParallelism } from "node:os";
import { Tinypool } from "tinypool";
import { DEFAULT_COSTS } from "../local/virtual/costs.js";
import type { Line, Task } from "./lines.js";
import { merged } from "./figures/merge.js";
import type { PlayedTask } from "./player.js";
import { SCENARIOS } from "./scenarios/all.js";
import { SENSITIVITY } from "./scenarios/sensitivity.js";

/** The factors of each constant of the cost model. */
const FACTORS = [0.5, 2];

export interface Chosen {
  isSmoke: boolean;
  /** Only scenarios with this in their titles. */
  only?: string | undefined;
}

export function tasksOf({ isSmoke, only }: Chosen): Task[] {
  const scenarios = [...SCENARIOS, SENSITIVITY].filter(
    ({ title }) => only === undefined || title.toLowerCase().includes(only.toLowerCase()),
  );
  return scenarios.flatMap((scenario) => {
    const tasks = (isSmoke ? scenario.smoke : scenario.cases).flatMap((one) =>
      one.of.map((of): Task => {
        const { seeds } = one;
        const named = { scenario: scenario.title, case: one.name, of, isSmoke };
        return { ...named, ...(seeds === undefined ? {} : { seeds }) };
      }),
    );
    if (scenario !== SENSITIVITY || isSmoke) return tasks;
    const constants = Object.keys(DEFAULT_COSTS);
    const varied = constants.flatMap((constant) => FACTORS.map((by) => ({ constant, by })));
    return tasks.flatMap((task) => [task, ...varied.map((one) => ({ ...task, varied: one }))]);
  });
}

/** `told` receives each as it ends. Rejects with the first failure. */
export async function playAll(
  tasks: readonly Task[],
  told: (task: Task, lines: Line[], seconds: number) => void,
): Promise<void> {
  // A million jobs need the room, and leave none behind; small ones would pay more for a start than for the run.
  const isSmall = ({ isSmoke, scenario }: Task) => isSmoke || scenario === SENSITIVITY.title;
  await playEach(
    tasks.filter((task) => !isSmall(task)),
    { isolateWorkers: true },
    told,
  );
  await playEach(tasks.filter(isSmall), { isolateWorkers: false }, told);
}

async function playEach(
  tasks: readonly Task[],
  options: { isolateWorkers: boolean },
  told: (task: Task, lines: Line[], seconds: number) => void,
): Promise<void> {
  const pool = new Tinypool({
    filename: new URL("./player.ts", import.meta.url).href,
    runtime: "child_process",
    ...{ minThreads: 0, maxThreads: availableParallelism(), ...options },
    execArgv: [
      ...["--import", "tsx", "--experimental-vm-modules", "--no-warnings"],
      ...["--max-old-space-size=10240", "--max-semi-space-size=64"],
    ],
  });
  try {
    await Promise.all(
      tasks.map(async (task) => {
        const { seeds = 1 } = task;
        const played = await Promise.all(
          Array.from(
            { length: seeds },
            (_, i) => pool.run({ ...task, seed: i + 1 }) as Promise<PlayedTask>,
          ),
        );
        const seconds = played.reduce((all, one) => all + one.seconds, 0);
        told(task, merged(played.map(({ lines }) => lines)), seconds);
      }),
    );
  } finally {
    await pool.destroy();
  }
}
