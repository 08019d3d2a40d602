/** One queue of the overview. */
import { finishedIn, flowSparks, latest, minutesLater, waitSparks } from "../charts/series.js";
import { Sparkline } from "../charts/Sparkline.js";
import { useMemo, type ReactNode } from "react";
import { useAgeOf } from "../frame/clock.js";
import { useLabels } from "../frame/context.js";
import type { Labels } from "../labelOverrides.js";
import { Heading } from "../parts/Heading.js";
import { Link } from "../parts/Link.js";
import { queuePlace } from "../places.js";
import { PauseButton } from "../queue/QueueActions.js";
import { Health, useLightOf } from "../queue/Health.js";
import { StateCounts } from "../queue/StateCounts.js";
import { StandingWords } from "../queue/Standing.js";
import { useRateOf } from "./useRateOf.js";
import { PERIOD_MS, type Gauge, type Period, type ShownQueue } from "../../shared/index.js";

export function QueueRow({ queue }: { queue: ShownQueue }) {
  const { state, gauge, recent } = queue;
  return (
    <Lit gauge={gauge}>
      <div className="cv-queue-name">
        <Heading under={1}>
          <Link to={queuePlace(state.name)}>{state.name}</Link>
        </Heading>
        <Health gauge={gauge} />
        <StandingWords queue={queue} />
      </div>
      <StateCounts queue={state.name} counts={gauge.counts} />
      <Figures gauge={gauge} recent={recent} />
      <div className="cv-actions">
        <PauseButton queue={queue} />
      </div>
    </Lit>
  );
}

/** Drawn anew each second, and the charts in it are not. */
function Lit({ gauge, children }: { gauge: Gauge; children: ReactNode }) {
  return <li className={`cv-queue cv-light-${useLightOf()(gauge).light}`}>{children}</li>;
}

type Figured = Readonly<{ gauge: Gauge; recent: readonly Period[] }>;

/** As the minutes pass: of a queue that stands still, no new ones are sent. Drawn anew once in each. */
function Figures({ gauge, recent }: Figured) {
  const passed = Math.floor(useAgeOf()(recent) / PERIOD_MS.minute);
  return useMemo(
    () => <Drawn gauge={gauge} recent={minutesLater(recent, passed)} />,
    [gauge, recent, passed],
  );
}

function Drawn({ gauge, recent }: Figured) {
  const wait = latest(recent, "waitMs");
  const { overview, page, times } = useLabels();
  return (
    <>
      <figure className="cv-figure">
        <figcaption>
          <span className="cv-soft">{overview.throughput}</span> <Throughput gauge={gauge} />
        </figcaption>
        <Sparkline sparks={flowSparks(recent)} tone="flow" words={flowWords(recent, overview)} />
      </figure>
      <figure className="cv-figure">
        <figcaption>
          <span className="cv-soft">{overview.latencyP95}</span>{" "}
          <b>{wait === null ? page.none : times.duration(wait.p95)}</b>
        </figcaption>
        <Sparkline sparks={waitSparks(recent)} tone="wait" words={waitWords(recent, overview)} />
      </figure>
    </>
  );
}

function Throughput({ gauge }: { gauge: Gauge }) {
  return <b>{useLabels().overview.jobsPerMinute(useRateOf()(gauge))}</b>;
}

function flowWords(recent: readonly Period[], { throughputChart }: Labels["overview"]): string {
  const counts = recent.map(finishedIn);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return throughputChart(recent.length, total, Math.max(0, ...counts));
}

function waitWords(recent: readonly Period[], labels: Labels["overview"]): string {
  const waits = recent.flatMap(({ waitMs }) => (waitMs === null ? [] : [waitMs.p95]));
  const last = waits.at(-1);
  return last === undefined
    ? labels.latencyChartEmpty
    : labels.latencyChart(last, Math.max(...waits));
}
