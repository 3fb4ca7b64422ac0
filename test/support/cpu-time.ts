/** CPU milliseconds that this thread spends on a call. Unlike the time on the clock, they do not grow with the machine's load. */
export function cpuMsOf(act: () => unknown): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
