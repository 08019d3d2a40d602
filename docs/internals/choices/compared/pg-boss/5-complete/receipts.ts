// Names: createQueue deadLetter work data
// Reservation: failures only.
import { boss } from "./emails";
import { deliver } from "./mailer";

await boss.createQueue("receipts-failed");
await boss.createQueue("receipts", { deadLetter: "receipts-failed" });
await boss.work<{ to: string }>("receipts", async (jobs) => {
  for (const { data } of jobs) await deliver(data.to);
});
await boss.work<{ to: string }>("receipts-failed", async (jobs) => {
  for (const { data } of jobs) console.error(data.to);
});
