// Names: createQueue policy work send retryLimit retryBackoff startAfter singletonKey
// Reservation: the key needs a queue whose policy heeds it.
import { boss } from "./emails";
import { deliver } from "./mailer";

await boss.createQueue("reminders", { policy: "exclusive" });
await boss.work<{ to: string }>("reminders", async (jobs) => {
  for (const { data } of jobs) await deliver(data.to);
});

export const remind = (to: string) =>
  boss.send(
    "reminders",
    { to },
    { retryLimit: 3, retryBackoff: true, startAfter: 60, singletonKey: to },
  );
