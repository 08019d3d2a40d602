// Names: PgBoss start createQueue work data send
import { PgBoss } from "pg-boss";
import { deliver } from "./mailer";

export const boss = new PgBoss(process.env.DATABASE_URL!);
await boss.start();
await boss.createQueue("emails");
await boss.work<{ to: string }>("emails", async (jobs) => {
  for (const { data } of jobs) await deliver(data.to);
});

export const signUp = (to: string) => boss.send("emails", { to });
