// Names: auth createPublicToken scopes read runs useRealtimeRun accessToken run metadata status
import { useRealtimeRun } from "@trigger.dev/react-hooks";
import type { render } from "./renders";

export function Progress({ id, token }: { id: string; token: string }) {
  const { run } = useRealtimeRun<typeof render>(id, { accessToken: token });
  if (run?.status !== "EXECUTING") return <p>{run?.status}</p>;
  return <progress max={100} value={Number(run.metadata?.percent ?? 0)} />;
}
