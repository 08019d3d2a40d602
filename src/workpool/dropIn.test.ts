/**
 * The types of `convex-conveyor/workpool` against the types of the published package: an app that compiles with that
 * compiles with this. The compiler checks it: a method, field or option that appears there fails the type check until
 * it is here.
 */
import type * as theirs from "@convex-dev/workpool";
import type { ComponentApi as TheirComponent } from "@convex-dev/workpool/_generated/component.js";
import { expect, test } from "vitest";
import type { ComponentApi as OurComponent } from "../component/_generated/component.js";
import type * as ours from "./index.js";

/** The type here, and the type there that must fit in its place. */
type Fits<Here extends There, There> = [Here, There];

/** The class, with every method and field that an app can name; the component is the mount's own. */
type Methods<Pool> = Omit<{ [Name in keyof Pool]: Pool[Name] }, "component">;
type Class = Fits<Methods<ours.Workpool>, Methods<theirs.Workpool>>;
type Constructor = Fits<
  ConstructorParameters<typeof theirs.Workpool>[1],
  ConstructorParameters<typeof ours.Workpool>[1]
>;

/** The functions of the component that its users call by their paths: `components.emailWorkpool.config.update`. */
type Paths = Fits<OurComponent<"pool">["config"], TheirComponent<"pool">["config"]>;

/** The exports except the class. */
type Values = Fits<Omit<typeof ours, Differs>, Omit<typeof theirs, Differs>>;
/** Functions that take the component itself are compared without it; the error's data has a mark of its own package. */
type Differs =
  ("Workpool" | "enqueue" | "enqueueBatch") | ("NonRetryableError" | "isNonRetryableError");
type WithoutComponent<Call> = Call extends (component: any, ...rest: infer Rest) => infer Answer
  ? (...rest: Rest) => Answer
  : never;
type Enqueue = Fits<WithoutComponent<typeof ours.enqueue>, WithoutComponent<typeof theirs.enqueue>>;
type EnqueueBatch = Fits<
  WithoutComponent<typeof ours.enqueueBatch>,
  WithoutComponent<typeof theirs.enqueueBatch>
>;

/** Types, both ways where an app may write and read them. */
type Types = [
  Fits<ours.WorkId, theirs.WorkId>,
  Fits<theirs.WorkId, ours.WorkId>,
  Fits<ours.LogLevel, theirs.LogLevel>,
  Fits<theirs.LogLevel, ours.LogLevel>,
  Fits<ours.RetryBehavior, theirs.RetryBehavior>,
  Fits<theirs.RetryBehavior, ours.RetryBehavior>,
  Fits<ours.RunResult<number>, theirs.RunResult>,
  Fits<theirs.RetryOption, ours.RetryOption>,
  Fits<theirs.WorkpoolOptions, ours.WorkpoolOptions>,
  Fits<theirs.WorkpoolRetryOptions, ours.WorkpoolRetryOptions>,
  Fits<theirs.EnqueueOptions<string, number>, ours.EnqueueOptions<string, number>>,
  Fits<ours.OnCompleteArgs<string>, theirs.OnCompleteArgs>,
  Fits<keyof theirs.EnqueueOptions, keyof ours.EnqueueOptions>,
];
export type Checked = [Class, Constructor, Paths, Values, Enqueue, EnqueueBatch, Types];

test("a method that one class has and the other lacks is a compile error", () => {
  type More = Methods<theirs.Workpool> & { drain: () => Promise<void> };
  // @ts-expect-error Property 'drain' is missing
  type Missing = Fits<Methods<ours.Workpool>, More>;
  // @ts-expect-error Property 'drain' is missing
  type Path = Fits<OurComponent["config"], TheirComponent["config"] & { drain: unknown }>;
  const checked: [Missing, Path] | undefined = undefined;
  expect(checked).toBeUndefined();
});
