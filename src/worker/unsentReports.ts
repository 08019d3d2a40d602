/**
 * The reports of one attempt that the deployment has not yet confirmed: its latest progress, log entries, output. It
 * knows nothing of calls or time.
 *
 * Entries and parts of output keep their numbers and parts their text until they are confirmed: a call without an
 * answer may have recorded them, and is repeated. Text that was never sent may still grow.
 */
import { getConvexSize, type Value } from "convex/values";
import {
  OUTPUT_PART_MAX_BYTES,
  LOGS_MAX,
  OUTPUT_MAX_BYTES,
  splitText,
  textBytes,
  type OutputUpdate,
  type Lease,
  type LogLevel,
  type LogUpdate,
  type ProgressUpdate,
  type ReportAnswer,
} from "../shared/index.js";

/** Part of one call of `report`. */
export interface ReportBatch {
  updates: ProgressUpdate[];
  logs: LogUpdate[];
  output: OutputUpdate[];
}

/** How much a call may still carry. */
export interface Budget {
  items: number;
  bytes: number;
}

/** Reports that could not be recorded, for people. */
export interface Refused {
  logs: number;
  /** Characters of output. */
  output: number;
}

export interface LogContent {
  level: LogLevel;
  message: string;
  data: Value | undefined;
}

export class UnsentReports {
  private progress: { value: Value; revision: number } | undefined;
  private revisions = 0;
  /** New or changed entries, by their numbers. New ones stand in order. */
  private readonly logs = new Map<number, LogContent & { revision: number; bytes: number }>();
  private entries = 0;
  /** Entries above the limit of one job. */
  private surplus = 0;
  /** Said, and in no part yet. */
  private text = "";
  private parts: { index: number; text: string; bytes: number }[] = [];
  private nextIndex = 0;
  private written = 0;
  private full = false;

  constructor(private readonly lease: Lease) {}

  /** Whether the deployment takes no more output of this job. */
  get isFull(): boolean {
    return this.full;
  }

  get isEmpty(): boolean {
    return this.progress === undefined && this.logs.size === 0 && !this.hasOutput;
  }

  /** Text that waits, and may wait a little longer for more. */
  get unsentText(): string {
    return this.text;
  }

  /** Something waits that gets no better by waiting. */
  get isReady(): boolean {
    return this.progress !== undefined || this.logs.size > 0 || this.parts.length > 0;
  }

  private get hasOutput(): boolean {
    return this.text !== "" || this.parts.length > 0;
  }

  show(value: Value): void {
    this.progress = { value, revision: (this.revisions += 1) };
  }

  /** The progress of an ended attempt is not shown, and one that is refused is given up. */
  forgetProgress(): void {
    this.progress = undefined;
  }

  /** Returns the entry's number, or -1 if a job may have no more: the deployment would take none of them. */
  log(content: LogContent, bytes: number): number {
    if (this.entries >= LOGS_MAX) {
      this.surplus += 1;
      return -1;
    }
    const entry = this.entries;
    this.entries += 1;
    this.logs.set(entry, { ...content, revision: 0, bytes });
    return entry;
  }

  changeLog(entry: number, revision: number, content: LogContent, bytes: number): void {
    this.logs.set(entry, { ...content, revision, bytes });
  }

  /** Takes text; false if this attempt alone would write more than a job may. */
  write(text: string): boolean {
    const bytes = textBytes(text);
    if (this.written + bytes > OUTPUT_MAX_BYTES) return false;
    this.written += bytes;
    this.text += text;
    return true;
  }

  /** The contents of the next call, as far as there is room, in the order of the reports. */
  take(room: Budget, isLast: boolean): ReportBatch {
    const { lease } = this;
    const reported: ReportBatch = { updates: [], logs: [], output: [] };
    const bytes = this.progress === undefined ? 0 : getConvexSize(this.progress.value);
    if (this.progress !== undefined && room.items > 0 && room.bytes >= bytes) {
      reported.updates.push({ ...lease, ...this.progress });
      room.items -= 1;
      room.bytes -= bytes;
    }
    for (const [entry, { data, bytes, ...log }] of this.logs) {
      if (room.items <= 0 || room.bytes < bytes) break;
      reported.logs.push({ ...lease, entry, ...log, ...(data === undefined ? {} : { data }) });
      room.items -= 1;
      room.bytes -= bytes;
    }
    this.cut(isLast);
    for (const { index, text, bytes } of this.parts) {
      if (room.items <= 0 || room.bytes < bytes) break;
      reported.output.push({ ...lease, index, text });
      room.items -= 1;
      room.bytes -= bytes;
    }
    return reported;
  }

  /** The deployment has answered for the taken reports. Returns the part that it did not take, if anything. */
  confirm(
    reported: ReportBatch,
    { nextIndex, outputFull, logsDropped = 0 }: ReportAnswer,
  ): Refused {
    if (reported.updates.some(({ revision }) => revision === this.progress?.revision)) {
      this.progress = undefined;
    }
    for (const { entry, revision } of reported.logs) {
      if (this.logs.get(entry)?.revision === revision) this.logs.delete(entry);
    }
    const refused = { logs: logsDropped, output: 0 };
    if (reported.output.length === 0) return refused;
    const wanted = nextIndex ?? 0;
    const lastSent = reported.output.at(-1)!.index;
    this.parts = this.parts.filter(({ index }) => index >= wanted);
    // Parts that were sent and not taken: there is no room, or the parts before them have been deleted.
    if (outputFull !== true && wanted > lastSent) return refused;
    return { ...refused, output: this.refuseOutput() };
  }

  /** How many entries were too many, since this was last asked. */
  takeSurplus(): number {
    const { surplus } = this;
    this.surplus = 0;
    return surplus;
  }

  /** Gives up the unsent log entries and output, since they would be refused. */
  drop(): Refused {
    const logs = this.logs.size;
    this.logs.clear();
    const waits = this.hasOutput;
    return { logs, output: waits ? this.refuseOutput() : 0 };
  }

  private refuseOutput(): number {
    const lost = this.parts.reduce((sum, { text }) => sum + text.length, this.text.length);
    this.full = true;
    this.parts = [];
    this.text = "";
    return lost;
  }

  /** Makes parts of the text. A character of which only the first half is there waits for the second. */
  private cut(isLast: boolean): void {
    const isHalf = !isLast && /[\uD800-\uDBFF]$/.test(this.text);
    const end = this.text.length - (isHalf ? 1 : 0);
    for (const text of splitText(this.text.slice(0, end), OUTPUT_PART_MAX_BYTES)) {
      this.parts.push({ index: this.nextIndex, text, bytes: textBytes(text) });
      this.nextIndex += 1;
    }
    this.text = this.text.slice(end);
  }
}
