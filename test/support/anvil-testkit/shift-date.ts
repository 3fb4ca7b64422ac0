/** Loaded before a program, shifts the date of its machine by DATE_AHEAD_MS; its monotonic clock stays. */
const now = () => machine.now() + Number(process.env.DATE_AHEAD_MS);
const machine = globalThis.Date;
globalThis.Date = new Proxy(machine, {
  construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
  get: (target, property) => (property === "now" ? now : Reflect.get(target, property)),
});
