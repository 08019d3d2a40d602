/** Virtual time cannot go on as it was asked to. */
export class VirtualTimeError extends Error {
  constructor(
    /** Nothing waits; the time given is over; events without end at one time. */
    readonly code: "deadlock" | "deadline" | "standstill",
    message: string,
  ) {
    super(message);
    this.name = "VirtualTimeError";
  }
}
