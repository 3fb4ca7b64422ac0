import { existsSync, statfsSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { runResults, testFilesByProject } from "./test/support/projects.ts";

/** The longest files, which start first: what starts last is what the run waits for. */
const LONGEST = [
  "test/end-to-end/up.test.ts",
  "test/end-to-end/torture.test.ts",
  "test/end-to-end/re-index.test.ts",
  "test/end-to-end/deployment.test.ts",
  "test/end-to-end/pages.test.ts",
  "test/end-to-end/selling.test.ts",
  "test/end-to-end/reports.test.ts",
  "test/service/verification/escrow/settle-jobs.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((path) => moduleId.endsWith(path));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

/** Files in memory, with their least free bytes: databases and chains of tests, of which a run makes thousands, need no disk. */
const MEMORY = { folder: "/dev/shm", freeBytes: 6 * 2 ** 30 };
if (process.env.TMPDIR === undefined && existsSync(MEMORY.folder)) {
  const { bavail, bsize } = statfsSync(MEMORY.folder);
  if (bavail * bsize >= MEMORY.freeBytes) process.env.TMPDIR = MEMORY.folder;
}

const shared = {
  // They end what hangs and measure nothing: on a busy machine a test takes several times as long as on an idle one.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 170_000 } },
  // End-to-end tests wait for blocks most of their time.
  maxWorkers: 4,
  // Nothing keeps state in modules, and loading them anew for every file takes longer than most tests.
  isolate: false,
  setupFiles: ["test/support/file-cpu-time.ts"],
};

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    ...shared,
    // One PostgreSQL and one bundle of our processes serve all projects.
    globalSetup: ["test/support/postgres-server.ts", "test/support/ahs-bundle.ts"],
    sequence: { sequencer: LongestFirst },
    reporters: ["default", runResults()],
    projects: [...testFilesByProject()].map(([name, include]) => ({
      test: { ...shared, name, include: [...include] },
    })),
  },
});
