/**
 * Claimers drain a backlog side by side: Conveyor's claims, one and sixteen jobs per call, against a queue as one would
 * first write it (`first()` that is free, then patch).
 */
import { ConvexHttpClient } from "convex/browser";
import { api } from "../tests/support/app/convex/_generated/api.js";
import { Session, squared } from "../tests/support/session.js";
import type { TestApp } from "../tests/support/testApp.js";
import { jobCalls } from "../src/shared/index.js";

type Claimed = Awaited<ReturnType<Session["claim"]>>["jobs"];

/** Claims and completes in one call, until nothing is left. Gives the number of jobs that it finished. */
async function drainAlone(session: Session, first: Claimed, batch: number): Promise<number> {
  let done = 0;
  let jobs = first;
  while (jobs.length > 0 || (await session.hasWork())) {
    if (jobs.length === 0) {
      // The rest belongs to other shards: it may be taken once it has waited, and not by all at once.
      await new Promise((resolve) => setTimeout(resolve, 50));
      jobs = (await session.claim(batch)).jobs;
      continue;
    }
    const finished = jobs.map(({ id, attempt }) => ({ id, attempt, outcome: squared(0) }));
    const reply = await session.completeAndClaim(finished, batch);
    done += reply.answers.filter(({ answer }) => answer === "ok").length;
    jobs = reply.jobs;
  }
  return done;
}

export async function conveyor(
  app: TestApp,
  options: { jobs: number; claimers: number; batch: number },
): Promise<number> {
  const token = await app.token();
  for (let left = options.jobs; left > 0; left -= 500) {
    const payloads = Array.from({ length: Math.min(left, 500) }, (_, n) => ({ n }));
    await app.client.mutation(...jobCalls(api.races).enqueueMany("races", payloads));
  }
  const sessions = Array.from(
    { length: options.claimers },
    (_, i) => new Session(app.url, token, `claimer-${i}`, "races"),
  );
  // One after the other, so that the figure is of a fleet at work and not of its arrival.
  const first: Claimed[] = [];
  for (const session of sessions) first.push((await session.claim(1)).jobs);
  const done = await Promise.all(
    sessions.map((session, i) => drainAlone(session, first[i]!, options.batch)),
  );
  return done.reduce((sum, count) => sum + count, 0);
}

export async function naive(
  app: TestApp,
  options: { jobs: number; claimers: number },
): Promise<number> {
  await app.client.mutation(api.naive.fill, { count: options.jobs });
  const drain = async (by: string): Promise<number> => {
    const client = new ConvexHttpClient(app.url);
    for (let done = 0; ;) {
      const taken = await client.mutation(api.naive.take, { by }).catch(() => "lost" as const);
      if (taken === null) return done;
      if (taken !== "lost") done += 1;
    }
  };
  const done = await Promise.all(
    Array.from({ length: options.claimers }, (_, i) => drain(`claimer-${i}`)),
  );
  return done.reduce((sum, count) => sum + count, 0);
}
