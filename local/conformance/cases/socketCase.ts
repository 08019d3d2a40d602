/** Shared by cases of the sync protocol. */
import type { Read } from "../app/convex/rows.js";
import { newGroup, NO_WIRE, type Case } from "../case.js";
import { updated, withSocket, type Message, type RawSocket } from "../rawSocket.js";
import type { Target } from "../target.js";

export const all: Read = { op: "read" };
export const look = (id: number, group: string, step: Read = all) => ({
  id,
  path: "rows:look",
  args: { group, ids: [], steps: [step as never] },
});
export const isTransition = ({ type }: Message) => type === "Transition";
export const answers = (requestId: number) => (message: Message) =>
  message.type.endsWith("Response") && message["requestId"] === requestId;
export const tells = (queryId: number) => (message: Message) =>
  updated(message, queryId) !== undefined;

export function over(
  id: string,
  says: string,
  run: (socket: RawSocket, target: Target, group: string) => Promise<void>,
  more: Partial<Case> = {},
): Case {
  return {
    id,
    says,
    convexTest: NO_WIRE,
    run: (target) => withSocket(target.server(), (socket) => run(socket, target, newGroup())),
    ...more,
  };
}
