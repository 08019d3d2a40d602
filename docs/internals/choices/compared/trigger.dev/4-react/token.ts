import { auth } from "@trigger.dev/sdk";

export const tokenFor = (id: string) =>
  auth.createPublicToken({ scopes: { read: { runs: [id] } } });
