// Names: getClientSubscriptionToken channel topics useRealtime token runStatus messages byTopic data
import { useRealtime } from "inngest/react";
import { tokenFor } from "./token";
import { renders } from "./worker";

export function Progress({ scene }: { scene: string }) {
  const { messages, runStatus } = useRealtime({
    channel: renders({ scene }),
    topics: ["progress"] as const,
    token: () => tokenFor(scene),
  });
  if (runStatus !== "running") return <p>{runStatus}</p>;
  return <progress max={100} value={messages.byTopic.progress?.data.percent ?? 0} />;
}
