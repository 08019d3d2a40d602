/** Whether claims become dearer with a queue's past and future: counts a claim, in virtual time, before and after. */
import { claimsOverHistory, type History } from "../tests/support/history.js";

export async function history({ smoke }: { smoke: boolean }): Promise<void> {
  const size = smoke ? 200 : 100_000;
  const { before, after, calls } = await claimsOverHistory({ finished: size, future: size });
  console.log(
    `A claim, before and after ${size} jobs more were done in ${calls} calls, with ${size} due later`,
  );
  console.table({ ...lines("before", before), ...lines("after", after) });
}

function lines(when: string, history: History) {
  return Object.fromEntries(
    Object.entries(history).map(([who, { documentsRead, tombstones }]) => [
      `${who} worker, ${when}`,
      { "documents read": documentsRead, "dead entries passed, at most": tombstones },
    ]),
  );
}
