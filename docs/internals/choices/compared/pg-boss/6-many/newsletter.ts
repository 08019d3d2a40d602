// Names: insert data
import { boss } from "./emails";

export const newsletter = (readers: string[]) =>
  boss.insert(
    "emails",
    readers.map((to) => ({ data: { to } })),
  );
