import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/postgres-server.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // End-to-end tests wait for blocks most of their time.
    maxWorkers: 3,
    // Nothing keeps state in modules, and loading them anew for every file takes longer than most tests.
    isolate: false,
  },
});
