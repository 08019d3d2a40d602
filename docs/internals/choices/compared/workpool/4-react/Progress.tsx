import { useQuery } from "convex/react";
import { api } from "./_generated/api";

export function Progress({ id }: { id: string }) {
  const work = useQuery(api.status.status, { id });
  return <p>{work?.state}</p>;
}
