/** The compared ways: for jobs that Convex runs itself, and for programs outside that claim them. */

export interface Alternative {
  /** As tables call it. */
  label: string;
  /** The runner of the jobs: Convex, or programs outside of it. */
  side: "push" | "pull";
  /** The module of the side's app that brings jobs in. */
  module: string;
}

export const ALTERNATIVES = {
  conveyor: { label: "Conveyor", side: "push", module: "conveyor" },
  inline: { label: "Conveyor, inline", side: "push", module: "inline" },
  workpool: { label: "workpool", side: "push", module: "workpool" },
  plain: { label: "plain scheduling", side: "push", module: "plain" },
  pulled: { label: "Conveyor", side: "pull", module: "conveyor" },
  following: { label: "Conveyor, each follows", side: "pull", module: "conveyor" },
  many: { label: "Conveyor", side: "pull", module: "many" },
  farm: { label: "llama farm", side: "pull", module: "farm" },
  ring: { label: "circular queue", side: "pull", module: "ring" },
} as const satisfies Record<string, Alternative>;

export type AlternativeName = keyof typeof ALTERNATIVES;

/** Ways with a bound on running jobs, and ways without one. */
export const PUSH = ["conveyor", "workpool", "plain"] as const satisfies AlternativeName[];
export const PUSH_AND_INLINE = [
  "conveyor",
  "inline",
  "workpool",
  "plain",
] as const satisfies AlternativeName[];
export const PULL = ["pulled", "farm", "ring"] as const satisfies AlternativeName[];

const CONVEYORS: readonly AlternativeName[] = ["conveyor", "inline", "pulled", "following", "many"];
export const isConveyor = (name: AlternativeName): boolean => CONVEYORS.includes(name);
