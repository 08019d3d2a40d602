/** Imported first by a process with a wrong clock: by so many milliseconds as `CLOCK_SHIFT_MS` says. */
const shiftMs = Number(process.env["CLOCK_SHIFT_MS"] ?? 0);

if (shiftMs !== 0) {
  const right = Date;
  const now = () => right.now() + shiftMs;
  globalThis.Date = new Proxy(right, {
    construct: (target, args, as) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, as) as Date,
    apply: () => new right(now()).toString(),
    get: (target, name) => (name === "now" ? now : (Reflect.get(target, name) as unknown)),
  });
}
