/** The gate, and in the way that announces the door behind it. All of this is read for real. */
import { v, type Infer } from "convex/values";
import type { Reader, Writer } from "./builders.js";

/** How lanes are woken: by wakes, by wakes with a gate that is turned ahead of time, or by callers. */
export const vWay = v.union(v.literal("wake"), v.literal("announce"), v.literal("patch"));
export type Way = Infer<typeof vWay>;

export async function readGate(db: Reader, way: Way) {
  const gate = (await db.query("gate").unique())!;
  const door = way === "announce" ? (await db.query("door").unique())! : null;
  return { gate, door };
}
type Gate = Awaited<ReturnType<typeof readGate>>;

/** Whether jobs may have been left to the lanes that are awake. */
export function isReliedOn({ gate, door }: Gate): boolean {
  return door === null ? gate.state === "busy" : door.open;
}

export async function openGate(db: Writer, { gate, door }: Gate): Promise<void> {
  await db.patch("gate", gate._id, { state: "busy" });
  if (door !== null) await db.patch("door", door._id, { open: true });
}
