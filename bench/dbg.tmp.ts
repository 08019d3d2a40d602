import { play } from "/work/main/bench/play.js";
import { SCENARIOS } from "/work/main/bench/scenarios/all.js";
const [title, name, seed] = process.argv.slice(2);
const one = SCENARIOS.find((s) => s.title === title)!.cases.find((c) => c.name === name)!;
const played = await play("conveyor", one, { seed: Number(seed ?? 1) });
const late = [...played.watched.began].map(([n, at]) => [n, Math.round(at - (played.watched.enqueued.get(n) ?? NaN)), Math.round(played.watched.enqueued.get(n)!)]).sort((a, b) => b[1]! - a[1]!).slice(0, 8);
console.log("late", JSON.stringify(late));
