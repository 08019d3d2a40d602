// Names: batchTrigger payload
// Reservation: up to 1,000 items a call.
import { send } from "./emails";

export async function newsletter(readers: string[]) {
  const items = readers.map((to) => ({ payload: { to } }));
  await send.batchTrigger(items.slice(0, 1_000));
  await send.batchTrigger(items.slice(1_000));
}
