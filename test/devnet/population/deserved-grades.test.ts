import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../../bin/supervisor/child-process.ts";
import { type Devnet, startDevnet } from "../../../devnet/devnet.ts";
import { jsonRpc } from "../../../devnet/json-rpc.ts";
import type { ArchetypeName } from "../../../devnet/population/plan-types.ts";
import { createRoster, type Member } from "../../../devnet/population/roster.ts";
import { createWorld } from "../../../devnet/population/world.ts";
import { scoreWallet } from "../../../service/model/features/score-wallet.ts";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import type { ScoreRecord } from "../../../service/model/score/record.ts";
import { type ChainRows, lower, readChainRows } from "./chain-rows.ts";

const SEED = "1";
const WALLETS = 100;
/** Unix seconds: with the end of the history fixed, all of it is. */
const END = 1_795_000_000;
const BUILD_TIMEOUT_MS = 400_000;
/** u of which q = 0.75. */
const ENOUGH_USERS = 6;

/** Grades that every wallet of an archetype must be in after 90 days; null stands for INSUFFICIENT. */
const EXPECTED: Readonly<Record<ArchetypeName, readonly (string | null)[]>> = {
  keeper: ["A", "B"],
  "diverse-trader": ["A", "B"],
  "payment-agent": ["A", "B"],
  "escrow-worker": ["A", "B"],
  "oracle-feeder": ["A", "B"],
  "weekly-payroll": ["A", "B"],
  "spammed-victim": ["A", "B"],
  "smart-account": ["A", "B"],
  "x402-payer": ["A", "B"],
  // It does nothing itself: its profile as a seller says how it earns.
  "x402-seller": [null],
  recovering: ["A", "B", "C"],
  flaky: ["B", "C"],
  // Its listed contacts and open approvals are shown beside the number.
  "dirty-hygiene": ["B", "C", "D"],
  "gas-war": ["C", "D"],
  "retry-storm": ["B", "C", "D", "E", "F"],
  "stale-strategy": ["D", "E", "F"],
  "half-failing": ["D", "E", "F"],
  // Calls among its owner's accounts prove nothing.
  "self-dealing-ring": [null],
  "fresh-contract-ring": [null],
  "always-failing": ["E", "F"],
  sanctioned: ["F"],
  newcomer: [null],
  dormant: [null],
};

const HEALTHY: readonly ArchetypeName[] = [
  "keeper",
  "diverse-trader",
  "payment-agent",
  "escrow-worker",
  "oracle-feeder",
  "weekly-payroll",
  "spammed-victim",
  "smart-account",
  "x402-payer",
];

/** Active enough to be known well after 90 days. */
const KNOWN_WELL: readonly ArchetypeName[] = [
  "keeper",
  "diverse-trader",
  "payment-agent",
  "escrow-worker",
  "oracle-feeder",
];

const RINGS: readonly ArchetypeName[] = ["self-dealing-ring", "fresh-contract-ring"];

type Judged = { readonly member: Member; readonly record: ScoreRecord };

describe("the population of 100 wallets after 90 days on a real chain", () => {
  let devnet: Devnet;
  let rows: ChainRows;
  let judged: readonly Judged[];

  beforeAll(async () => {
    devnet = await startDevnet({
      port: await freePort(),
      dataDir: null,
      seed: SEED,
      wallets: WALLETS,
      days: 90,
      now: () => END,
      onProgress: () => undefined,
      logger: { info: () => undefined, warn: () => undefined },
    });
    const { contracts, deployment, rpcUrl } = devnet;
    const roster = createRoster(createWorld(contracts, SEED, WALLETS), SEED, WALLETS);
    const followed = new Set(roster.map((member) => lower(member.context.wallet.address)));
    rows = await readChainRows(jsonRpc(rpcUrl), { deployment, followed });
    judged = roster.map((member) => {
      const wallet = lower(member.context.wallet.address);
      const walletRows = rows.rowsOf(wallet, member.archetype.name === "sanctioned");
      return { member, record: scoreWallet({ rows: walletRows, asOf: rows.asOf, policy: AHS_2026_2 }) };
    });
  }, BUILD_TIMEOUT_MS);

  afterAll(() => devnet.stop());

  const of = (name: ArchetypeName): readonly Judged[] =>
    judged.filter(({ member }) => member.archetype.name === name);

  test.each(Object.entries(EXPECTED))("deserves as %s nothing but %j", (name, expected) => {
    const found = of(name as ArchetypeName);
    expect(found.length).toBeGreaterThan(0);
    expect(found.map(labelled).filter(([, grade]) => !expected.includes(grade))).toEqual([]);
  });

  test.each(KNOWN_WELL)("is known well as %s: confidence is HIGH", (name) => {
    expect(
      of(name)
        .filter(({ record }) => record.confidenceLevel !== "HIGH")
        .map(labelled),
    ).toEqual([]);
  });

  test.each(RINGS)("is seen through as %s", (name) => {
    const unseen = of(name).filter(
      ({ record }) => !record.patterns.some((pattern) => pattern.name === "self_dealing_ring"),
    );
    expect(unseen.map(labelled)).toEqual([]);
  });

  test.each(HEALTHY)("deals as %s with accounts that six independent others use, nearly always", (name) => {
    expect(
      of(name)
        .filter(({ member }) => independentShare(member) < 0.95)
        .map(labelled),
    ).toEqual([]);
  });

  /** Share of the calls beside approvals whose counterparty has enough independent users. */
  function independentShare({ context }: Member): number {
    const wallet = lower(context.wallet.address);
    const users = new Map(rows.counterpartiesOf(wallet).map((fact) => [fact.address, fact.outsideUsers]));
    const calls = rows.callsOf(wallet).filter((call) => call.receipt.effect !== "approval");
    const independent = calls.filter((call) => {
      const counterparty = call.recipient ?? call.to;
      return counterparty !== null && (users.get(counterparty) ?? 0) >= ENOUGH_USERS;
    });
    return independent.length / calls.length;
  }
});

function labelled({ member, record }: Judged): readonly [string, string | null] {
  const { outcome } = record;
  return [member.context.label, outcome.kind === "scored" ? outcome.grade : null];
}
