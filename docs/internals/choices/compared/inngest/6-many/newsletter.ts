// Names: send name data
import { inngest } from "./client";

export const newsletter = (readers: string[]) =>
  inngest.send(readers.map((to) => ({ name: "emails/send", data: { to } })));
