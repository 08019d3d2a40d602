// Names: add attempts backoff type delay jobId
// Reservation: the key holds for as long as the job is kept, also when it has ended.
import { emails } from "./emails";

export const remind = (to: string) =>
  emails.add(
    "send",
    { to },
    {
      attempts: 4,
      backoff: { type: "exponential", delay: 1_000 },
      delay: 60_000,
      jobId: `remind-${to}`,
    },
  );
