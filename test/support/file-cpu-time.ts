import { afterAll } from "vitest";
import { cpuMsOf, processCpuSeconds } from "./cpu-time.ts";

declare module "vitest" {
  interface TaskMeta {
    /** CPU seconds that a test file took, with those of the processes that it started and saw end. */
    cpuSeconds?: number;
    /** CPU milliseconds of a fixed piece of work before the file: how fast the machine is meanwhile. */
    yardstickMs?: number;
  }
}

const PARSED = JSON.stringify(
  Array.from({ length: 400 }, (_, index) => ({ index, text: `${index}`.repeat(9) })),
);
const ROUNDS = 12;

// Runs before each test file; its hook is the last of the file.
const yardstickMs = cpuMsOf(() => {
  for (let round = 0; round < ROUNDS; round += 1) JSON.stringify(JSON.parse(PARSED));
});
const before = processCpuSeconds();
// biome-ignore lint/correctness/noEmptyPattern: vitest reads from it which fixtures are wanted
afterAll(({}, file) => {
  Object.assign(file.meta, { cpuSeconds: processCpuSeconds() - before, yardstickMs });
});
