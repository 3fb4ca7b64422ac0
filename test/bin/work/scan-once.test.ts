import { zeroAddress } from "viem";
import { afterAll, expect, test } from "vitest";
import { publishNightRoot } from "../../../bin/work/nightly.ts";
import { openDatabase } from "../../../service/db/database.ts";

/** No server listens on this port: every connection is refused. */
const db = openDatabase({
  ...{ url: "postgres://127.0.0.1:1/none", applicationName: "test", maxConnections: 1 },
  ...{ statementTimeoutMs: 1_000, connectTimeoutMs: 1_000, onIdleError: () => undefined },
});
afterAll(() => db.$client.end());

function contextOf(chainId: number, publicUrl: string | null): Parameters<typeof publishNightRoot>[0] {
  return {
    config: { publicUrl, host: "127.0.0.1", port: 4_020 },
    deployment: { oracle: { address: zeroAddress, startBlock: 0 } },
    scoring: { db, chainId, now: () => new Date("2026-11-20T02:10:00Z") },
    publisher: zeroAddress,
  };
}

test("a public chain gets no root that names this machine, and the report says why", async () => {
  expect(await publishNightRoot(contextOf(8453, null))).toEqual({
    root: null,
    noRoot: expect.stringContaining("PUBLIC_URL is not set"),
  });
});

test.each([
  [8453, "https://health.example.org"],
  [31_337, null],
])("chain %d with PUBLIC_URL %s gets one", async (chainId, publicUrl) => {
  // As far as asking the database for it.
  await expect(publishNightRoot(contextOf(chainId, publicUrl))).rejects.toThrow();
});
