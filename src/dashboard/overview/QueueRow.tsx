/** One queue among the others. */
import { flowSparks, flowWords, latest, waitSparks, waitWords } from "../charts/series.js";
import { Sparkline } from "../charts/Sparkline.js";
import { Heading } from "../parts/Heading.js";
import { Link } from "../parts/Link.js";
import { queuePlace } from "../places.js";
import { PauseButton } from "../queue/QueueActions.js";
import { Health } from "../queue/Health.js";
import { StateCounts } from "../queue/StateCounts.js";
import { StandingWords } from "../queue/Standing.js";
import { duration, rate } from "../words.js";
import type { ShownQueue } from "../../shared/index.js";

export function QueueRow({ queue }: { queue: ShownQueue }) {
  const { state, gauge, recent } = queue;
  const wait = latest(recent, "waitMs");
  return (
    <li className={`cv-queue cv-light-${gauge.health.light}`}>
      <div className="cv-queue-name">
        <Heading under={1}>
          <Link to={queuePlace(state.name)}>{state.name}</Link>
        </Heading>
        <Health health={gauge.health} />
        <StandingWords queue={queue} />
      </div>
      <StateCounts queue={state.name} counts={gauge.counts} />
      <figure className="cv-figure">
        <figcaption>
          <span className="cv-soft">Ended a minute</span> <b>{rate(gauge.perMinute.finished)}</b>
        </figcaption>
        <Sparkline sparks={flowSparks(recent)} tone="flow" words={flowWords(recent)} />
      </figure>
      <figure className="cv-figure">
        <figcaption>
          <span className="cv-soft">Waited, p95</span>{" "}
          <b>{wait === null ? "–" : duration(wait.p95)}</b>
        </figcaption>
        <Sparkline sparks={waitSparks(recent)} tone="wait" words={waitWords(recent)} />
      </figure>
      <div className="cv-actions">
        <PauseButton queue={queue} />
      </div>
    </li>
  );
}
