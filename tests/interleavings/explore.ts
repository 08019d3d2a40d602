/**
 * All orders in which a few transactions can begin and commit, depth first.
 *
 * A transaction is a pure function of the snapshot at which it begins, so an order is a row of "this one begins" and "this one
 * commits"; a transaction that loses a conflict may begin again at any later point. A function that is due from the start, or
 * scheduled for now by a commit, is one more transaction. A transaction that makes snapshot queries is begun twice: with its own
 * snapshot for them, and with the one before the latest commit. Orders that lead to the same commits lead to the same point,
 * which is checked once.
 */
import type { Point } from "./point.js";
import { nameOf, type Begun, type Call, type Transactions } from "./transactions.js";

/** A transaction cannot lose more often than other transactions commit; more is a circle. */
const BEGINS_MAX = 8;

/** More is not a small case, and would take minutes. */
const ORDERS_MAX = 6_000;

/** One order's end, when all has been committed. */
export interface End {
  point: Point;
  /** The calls as they committed, in the order in which they were given; then the scheduled ones. */
  ended: readonly Begun[];
  /** For people: each call that began (`+`), committed (`=`), lost (`!`) or read an older snapshot (`~`). */
  order: string;
}

/** One of the calls that are ordered. */
interface Actor {
  name: string;
  call: Call;
  begun: Begun | null;
  ended: Begun | null;
  begins: number;
}

interface Step {
  point: Point;
  actors: readonly Actor[];
  order: string;
}

export interface Exploration {
  /** Called with each point after a commit, once. */
  onPoint: (point: Point) => Promise<void>;
  /** Called with each end, once for all orders that lead to the same point with the same answers. */
  onEnd: (end: End) => Promise<void>;
  /** Called with a point at which any order ends, once for all that have the same rows, after that. */
  onRest: (end: End) => Promise<void>;
}

/** Returns how many orders there are. */
export async function explore(
  transactions: Transactions,
  start: Point,
  calls: Readonly<Record<string, Call>>,
  { onPoint, onEnd, onRest }: Exploration,
): Promise<{ orders: number; ends: number }> {
  const ids = new Map<object, number>();
  const idOf = (one: object) => ids.get(one) ?? (ids.set(one, ids.size), ids.size - 1);
  const points = new Set<Point>();
  const ends = new Set<string>();
  const rests = new Set<string>();
  let orders = 0;

  async function visit(step: Step): Promise<void> {
    if (!points.has(step.point)) {
      points.add(step.point);
      await onPoint(step.point);
    }
    if (step.actors.every(({ ended }) => ended !== null)) {
      orders += 1;
      if (orders > ORDERS_MAX) throw new Error(`There are more than ${ORDERS_MAX} orders.`);
      const ended = step.actors.map((actor) => actor.ended!);
      const key = [step.point, ...ended].map(idOf).join();
      if (ends.has(key)) return;
      ends.add(key);
      const end = { point: step.point, ended, order: step.order.trim() };
      await onEnd(end);
      const contents = transactions.contents(step.point);
      if (rests.has(contents)) return;
      rests.add(contents);
      return await onRest(end);
    }
    for (const actor of step.actors) {
      if (actor.ended !== null) continue;
      const next = actor.begun === null ? await begin(step, actor) : await commit(step, actor);
      for (const after of next) await visit(after);
    }
  }

  async function begin(step: Step, actor: Actor): Promise<Step[]> {
    if (actor.begins === BEGINS_MAX) throw new Error(`${actor.name} begins again and again.`);
    const { name, call, begins } = actor;
    const begun = await transactions.begin(step.point, call);
    const next = [changed(step, actor, { begun, begins: begins + 1 }, `+${name}`)];
    if (begun.looks.length > 0 && begins === 0 && step.point.before !== null) {
      const older = await transactions.begin(step.point, call, "old");
      next.push(changed(step, actor, { begun: older, begins: begins + 1 }, `+~${name}`));
    }
    return next;
  }

  async function commit(step: Step, actor: Actor): Promise<Step[]> {
    const { begun, name } = actor;
    if (!begun!.commits) return [changed(step, actor, { ended: begun }, `=${name}`)];
    const point = step.point.commit(begun!.transaction, name);
    if (point === null) return await begin({ ...step, order: `${step.order} !${name}` }, actor);
    const after = changed({ ...step, point }, actor, { ended: begun }, `=${name}`);
    const known = new Set(after.actors.map(({ call }) => nameOf(call)));
    const fresh = transactions.due(point).filter((call) => !known.has(nameOf(call)));
    return [{ ...after, actors: [...after.actors, ...fresh.map(actorFor)] }];
  }

  await visit({
    point: start,
    actors: [
      ...Object.entries(calls).map(([name, call]) => actorOf(name, call)),
      ...transactions.due(start).map(actorFor),
    ],
    order: "",
  });
  return { orders, ends: ends.size };
}

function actorOf(name: string, call: Call): Actor {
  return { name, call, begun: null, ended: null, begins: 0 };
}

/** The scheduler's. */
const actorFor = (call: Call) => actorOf(call.path, call);

function changed(step: Step, actor: Actor, change: Partial<Actor>, word: string): Step {
  const actors = step.actors.map((one) => (one === actor ? { ...one, ...change } : one));
  return { ...step, actors, order: `${step.order} ${word}` };
}
