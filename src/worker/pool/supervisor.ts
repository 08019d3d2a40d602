/**
 * Keeps so many processes alive: starts them, replaces each that has ended, and stops them. Slots are the places of
 * processes; a slot has one process, waits for the next one, or is given up. Time is injected.
 */
import { backoff, type Clock } from "../clock.js";
import {
  BRIEF_MS,
  KILL_AFTER_MS,
  MEMORY_HARD_FACTOR,
  RESTART_MAX_MS,
  RESTART_MIN_MS,
  STEADY_MS,
} from "./limits.js";
import { Member, type End, type Forked } from "./member.js";
import type { EndReason, PoolEvent, ProcessStatus } from "./options.js";

export interface SupervisorDeps {
  clock: Clock;
  fork: () => Forked;
  name: string;
  processes: number;
  graceMs: number;
  checkMs: number;
  silentMs: number;
  maxMemoryBytes: number | undefined;
  startTries: number;
  emit: (event: PoolEvent) => void;
}

interface Slot {
  current: Member | undefined;
  /** In a row. */
  failures: number;
  cancelStart: () => void;
}

export class Supervisor {
  private slots: Slot[] = [];
  /** All that have not ended, also the ones that leave. */
  private readonly members = new Set<Member>();
  private serial = 0;
  private generation = 0;
  private isQuiet = false;
  private isRunning = false;
  private isStopping = false;
  private wasEverReady = false;
  private failedStarts = 0;
  private error: Error | undefined;
  private rolling: Promise<void> | undefined;
  private announceRestart = () => {};
  private cancelCheck = () => {};
  private readonly kills = new Map<Member, { at: number; cancel: () => void }>();
  private finish = () => {};
  private announceStop = () => {};
  private readonly stopAsked = new Promise<void>((resolve) => (this.announceStop = resolve));
  private readonly finished = new Promise<void>((resolve) => (this.finish = resolve));

  /** How many `run` starts. */
  private processes: number;

  constructor(private readonly deps: SupervisorDeps) {
    this.processes = deps.processes;
  }

  get statuses(): ProcessStatus[] {
    return [...this.members].map(({ status }) => status);
  }

  /** Resolves when the last process has ended after a stop. */
  async run(): Promise<void> {
    this.isRunning = true;
    if (!this.isStopping) {
      this.grow(this.processes);
      this.checkLater();
    }
    await this.finished;
    if (this.error !== undefined) throw this.error;
  }

  async resize(processes: number): Promise<void> {
    if (this.isStopping) return;
    this.processes = processes;
    if (!this.isRunning) return;
    this.grow(processes - this.slots.length);
    const gone = this.slots.splice(processes);
    await Promise.all(gone.map((slot) => this.giveUp(slot, this.deps.graceMs)));
  }

  quiet(isQuiet: boolean): void {
    this.isQuiet = isQuiet;
    for (const member of this.members) void member.order({ type: isQuiet ? "quiet" : "resume" });
  }

  /** One after another: the new process is ready before the old one stops. A restart during another one extends it. */
  async restart(): Promise<void> {
    this.generation += 1;
    this.announceRestart();
    this.rolling ??= this.roll().finally(() => (this.rolling = undefined));
    await this.rolling;
  }

  async stop(graceMs: number): Promise<void> {
    this.isStopping = true;
    this.announceStop();
    this.cancelCheck();
    for (const slot of this.slots) slot.cancelStart();
    this.slots = [];
    await Promise.all([...this.members].map((member) => this.stopMember(member, graceMs)));
    this.finish();
  }

  /** For the third signal: there is no more to wait for. */
  killAll(): void {
    for (const member of this.members) member.kill("SIGKILL");
  }

  private grow(by: number): void {
    for (let at = 0; at < by; at += 1) {
      const slot: Slot = { current: undefined, failures: 0, cancelStart: () => {} };
      this.slots.push(slot);
      this.fill(slot);
    }
  }

  private fill(slot: Slot): void {
    slot.cancelStart();
    slot.current = this.start();
  }

  private start(): Member {
    const { clock, fork, graceMs, emit } = this.deps;
    const startedAt = { now: clock.now(), date: clock.date() };
    const id = ++this.serial;
    const name = `${this.deps.name}:${id}`;
    const member: Member = new Member({
      ...{ id, name, fork, generation: this.generation, startedAt },
      onUnknown: (message) => emit({ kind: "unknownMessage", message, ...member.of }),
    });
    this.members.add(member);
    emit({ kind: "started", ...member.of });
    void member.order({ type: "start", name, process: id, isQuiet: this.isQuiet, graceMs });
    void member.ready.then(() => {
      member.readyAt = clock.now();
      this.wasEverReady = true;
      emit({ kind: "ready", ...member.of });
    });
    void member.ended.then((end) => this.hasEnded(member, end));
    return member;
  }

  private hasEnded(member: Member, end: End): void {
    this.members.delete(member);
    this.kills.get(member)?.cancel();
    this.kills.delete(member);
    const reason = member.reason ?? reasonOf(member, end);
    const error = member.error === undefined ? {} : { error: member.error };
    this.deps.emit({ kind: "ended", reason, ...end, ...error, ...member.of });
    const slot = this.slots.find(({ current }) => current === member);
    if (slot === undefined) return;
    slot.current = undefined;
    if (reason === "finished") this.startNext(slot, member);
    else this.startLater(slot, member, end);
  }

  /** In place of one that has finished. */
  private startNext(slot: Slot, { startedAt }: Member): void {
    const { clock } = this.deps;
    slot.failures = 0;
    const fill = () => this.fill(slot);
    if (clock.now() - startedAt.now >= BRIEF_MS) fill();
    else slot.cancelStart = clock.after(RESTART_MIN_MS, fill);
  }

  private startLater(slot: Slot, member: Member, end: End): void {
    const { clock, startTries, emit } = this.deps;
    if (!this.wasEverReady) {
      this.failedStarts += 1;
      if (startTries > 0 && this.failedStarts >= startTries) {
        this.error ??= new Error(describeEnd(member, end));
        return void this.stop(this.deps.graceMs);
      }
    }
    const wasSteady = member.readyAt !== undefined && clock.now() - member.readyAt >= STEADY_MS;
    slot.failures = wasSteady ? 1 : slot.failures + 1;
    const inMs = Math.ceil(backoff(clock, slot.failures - 1, RESTART_MIN_MS, RESTART_MAX_MS));
    emit({ kind: "backoff", inMs, failures: slot.failures, ...member.of });
    slot.cancelStart = clock.after(inMs, () => this.fill(slot));
  }

  private async giveUp(slot: Slot, graceMs: number): Promise<void> {
    slot.cancelStart();
    if (slot.current !== undefined) await this.stopMember(slot.current, graceMs);
  }

  /** By a message, or by a signal where none arrives; killed when the grace and the last calls are over. */
  private async stopMember(member: Member, graceMs: number, reason: EndReason = "stopped") {
    if (!this.members.has(member)) return;
    member.reason ??= reason;
    if (member.isConnected) void member.order({ type: "stop", graceMs });
    else member.kill("SIGTERM");
    this.killWithin(member, graceMs + KILL_AFTER_MS);
    await member.ended;
  }

  /** A later stop with more time does not prolong an earlier one. */
  private killWithin(member: Member, ms: number): void {
    const { clock } = this.deps;
    const at = clock.now() + ms;
    const set = this.kills.get(member);
    if (set !== undefined && set.at <= at) return;
    set?.cancel();
    this.kills.set(member, { at, cancel: clock.after(ms, () => member.kill("SIGKILL")) });
  }

  private checkLater(): void {
    this.cancelCheck = this.deps.clock.after(this.deps.checkMs, () => {
      for (const member of [...this.members]) this.check(member);
      this.checkLater();
    });
  }

  private check(member: Member): void {
    const { checkMs, silentMs, maxMemoryBytes = Infinity, emit, graceMs } = this.deps;
    const { memoryBytes } = member.status;
    const isBeyond = memoryBytes > maxMemoryBytes * MEMORY_HARD_FACTOR;
    if (isBeyond && member.reason === "memory") member.kill("SIGKILL");
    // One that leaves has its own end.
    if (member.reason !== undefined) return void member.check();
    if (member.check() * checkMs >= silentMs) {
      member.reason = "silent";
      emit({ kind: "replaced", reason: "silent", memoryBytes, ...member.of });
      member.kill("SIGKILL");
    } else if (memoryBytes > maxMemoryBytes) {
      emit({ kind: "replaced", reason: "memory", memoryBytes, ...member.of });
      void this.stopMember(member, graceMs, "memory");
      if (isBeyond) member.kill("SIGKILL");
    }
  }

  private async roll(): Promise<void> {
    for (;;) {
      const isOld = ({ current }: Slot) =>
        current === undefined || current.generation < this.generation;
      const slot = this.slots.find(isOld);
      if (slot === undefined) return;
      slot.failures = 0;
      const old = slot.current;
      if (old === undefined) this.fill(slot);
      else if (old.readyAt === undefined) await this.renewAtOnce(slot, old);
      else await this.renew(slot, old);
    }
  }

  /** A process that does no jobs yet is not worth a wait. */
  private async renewAtOnce(slot: Slot, old: Member): Promise<void> {
    this.fill(slot);
    await this.stopMember(old, this.deps.graceMs);
  }

  private async renew(slot: Slot, old: Member): Promise<void> {
    const { graceMs, emit } = this.deps;
    const next = this.start();
    const restartAsked = new Promise<void>((resolve) => (this.announceRestart = resolve));
    const end = await Promise.race([next.ready, next.ended, restartAsked, this.stopAsked]);
    if (this.isStopping) return;
    const isOutdated = () => next.generation < this.generation;
    if (isOutdated()) {
      return void (await this.stopMember(next, next.readyAt === undefined ? 0 : graceMs));
    }
    if (end !== undefined) {
      const error = describeEnd(next, end);
      emit({ kind: "restartFailed", error });
      // A listener may have asked for the next restart.
      if (isOutdated()) return;
      throw new Error(`The rolling restart has ended. ${error}`);
    }
    // Its slot is gone, or has got a new process meanwhile: the old one had crashed.
    const isWanted = this.slots.includes(slot) && (slot.current ?? old) === old;
    if (!isWanted) return void (await this.stopMember(next, graceMs));
    slot.cancelStart();
    slot.current = next;
    await this.stopMember(old, graceMs);
  }
}

/** Of an end that the pool has not asked for. */
function reasonOf(member: Member, { code }: End): EndReason {
  return code === 0 && member.readyAt !== undefined && member.error === undefined
    ? "finished"
    : "crashed";
}

function describeEnd(member: Member, { code, signal }: End): string {
  const how = signal === null ? `with code ${code ?? "none"}` : `by ${signal}`;
  const why = member.error === undefined ? "" : `: ${member.error}`;
  return `Process ${member.of.name} ended ${how} before it was ready${why}`;
}
