import { afterEach, beforeEach, expect, test } from "vitest";
import type { AhsRecord } from "../../../service/api/schemas/ahs-record.ts";
import { createOtterscanSource } from "../../../service/ingest/history/otterscan-source.ts";
import { type WireRow, wireRow } from "../ingest/history/explorer-stand-in.ts";
import { startOtterscanStandIn } from "../ingest/history/otterscan-stand-in.ts";
import { WALLET } from "../ingest/history/simulated-chain.ts";
import { blockHash } from "../model/features/index-tables.ts";
import { createOnDemandWorld, type OnDemandWorld } from "./on-demand-world.ts";
import { FINALIZED } from "./record-world.ts";

const ROWS: readonly WireRow[] = Array.from({ length: FINALIZED }, (_, at) => wireRow(at + 1));
const POLICY = { timeoutMs: 300, tries: 1, pauseMs: 5, longestPauseMs: 20 };
/** The scripted node knows one wallet. For this address it returns rows of another account, which is no valid history. */
const UNREPORTED = "0x2222222222222222222222222222222222222222";
const LISTED = "0x3333333333333333333333333333333333333333";
const FOLLOWED = "0x4444444444444444444444444444444444444444";

let world: OnDemandWorld;
let standIn: Awaited<ReturnType<typeof startOtterscanStandIn>>;

beforeEach(async () => {
  world = await createOnDemandWorld();
  standIn = await startOtterscanStandIn({ rows: ROWS, hashOf: blockHash });
});
afterEach(async () => {
  await world.closeReaders();
  await standIn.close();
  await world.close();
});

function batchOf(addresses: readonly string[]) {
  const source = createOtterscanSource({ url: standIn.url, pageSize: 4, policy: POLICY });
  return world.appWith(source)("/ahs/batch", { addresses });
}

test("a batch scores followed, unknown and listed wallets, reports one whose history fails, and costs its price", async () => {
  await world.follow(FOLLOWED, 0);
  await world.sanction(LISTED, 10);
  const { status, body } = await batchOf([
    LISTED,
    UNREPORTED,
    FOLLOWED,
    WALLET,
    WALLET.toUpperCase().replace("0X", "0x"),
  ]);
  const results = body.results as readonly AhsRecord[];
  expect([status, body.count]).toEqual([200, 3]);
  expect(results.map(({ address, grade, coverage }) => [address, grade, coverage.sources])).toEqual([
    [LISTED, "F", expect.anything()],
    [FOLLOWED, null, ["index"]],
    [WALLET, null, ["otterscan"]],
  ]);
  expect(body.errors).toMatchObject([
    { address: UNREPORTED, problem: { status: 503, type: "/docs#problem-history-unavailable" } },
  ]);
  expect(await world.traces()).toMatchObject({ scores: 3, histories: 1, enrolments: 1, balance: 6_000 });
});

test("a batch of wallets whose histories all fail stores nothing and costs nothing", async () => {
  const before = await world.traces();
  await standIn.close();
  const { status, body, retryAfter } = await batchOf([UNREPORTED, WALLET]);
  expect([status, body.type]).toEqual([503, "/docs#problem-history-unavailable"]);
  expect(Number(retryAfter)).toBeGreaterThan(0);
  expect(await world.traces()).toEqual(before);
  standIn = await startOtterscanStandIn({ rows: ROWS, hashOf: blockHash });
});
