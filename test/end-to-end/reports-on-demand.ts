import { setTimeout as sleep } from "node:timers/promises";
import { type Address, createPublicClient, getAddress, http, numberToHex } from "viem";
import { expect, test } from "vitest";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import type { Testkit } from "../support/anvil-testkit/testkit.ts";
import { readBalance } from "../support/test-keys.ts";
import { until } from "../support/until.ts";
import type { ReportStand } from "./reports-stand.ts";

/** Never registered; only a paying caller asks for it. */
const WALLET = getAddress("0x00000000000000000000000000000000000a9e77");
const AGENTS = [1, 2, 3, 4].map((number) => getAddress(`0x00000000000000000000000000000000000a9e0${number}`));
const PAST_CALLS = 40;
const LATER_CALLS = 3;
const BALANCE = 20_000;

type AhsRecord = {
  readonly address: string;
  readonly ahs_score: number | null;
  readonly coverage: object;
  readonly features: readonly { readonly name: string; readonly samples: number }[];
};

/** Makes forty days of calls of an unfollowed wallet, to targets that have other users. */
export async function makeUnfollowedPast({ chain }: Testkit): Promise<void> {
  await chain.rpc.request("anvil_setBalance", WALLET, numberToHex(10n ** 20n));
  for (const agent of AGENTS) await chain.register(agent);
  const { keeperTarget1, keeperTarget2, keeperTarget3 } = chain.contracts;
  for (let call = 0; call < PAST_CALLS; call += 1) {
    await chain.moveTime(86_400);
    if (call % 10 === 9) await chain.revert(WALLET, keeperTarget1);
    else await chain.succeed(WALLET, call % 2 === 0 ? keeperTarget1 : keeperTarget2);
    // Users who are not only this wallet's company: without them no counterparty is worth anything.
    const agent = AGENTS[call % AGENTS.length] as Address;
    await chain.succeed(agent, [keeperTarget1, keeperTarget2, keeperTarget3][call % 3]);
    await chain.succeed(agent, keeperTarget3);
  }
}

/** Declares the test of a score on demand. */
export function testOnDemand({ kit, createCaller }: ReportStand): void {
  test.concurrent("a wallet that is not registered is scored from the node's own history, then followed, and keeps its past", async () => {
    const { id, ask } = await createCaller(BALANCE);
    /** Asks until the answer is no 503; none of those is paid for. */
    const untilAnswered = (): Promise<AhsRecord> =>
      until({ what: "a paid answer" }, async () => {
        const response = await ask(`/ahs/${WALLET}?include=features`);
        const body = (await response.json()) as AhsRecord;
        if (response.status === 200) return body;
        expect([response.status, body]).toEqual([503, expect.anything()]);
        await sleep(300);
        return null;
      });
    const rowOf = async (query: string) =>
      (await kit.db.$client.query<Record<string, unknown>>(query, [WALLET.toLowerCase()])).rows[0];

    const first = await untilAnswered();
    expect(first).toMatchObject({
      address: WALLET,
      coverage: { from_block: 0, complete: true, sources: ["otterscan"] },
    });
    expect(first.ahs_score).toEqual(expect.any(Number));
    expect(samplesOf(first)).toBe(PAST_CALLS);

    await until({ what: "the wallet is followed for good" }, async () => {
      const enrolment = await rowOf("select state from ahs.enrolment where wallet = $1");
      return enrolment?.state === "followed" ? true : null;
    });
    const followed = await rowOf(
      "select source, followed_block::int from chain_31337.wallet where address = $1",
    );
    expect(followed).toMatchObject({ source: "requested" });

    await until({ what: "the blocks between history and index are read" }, async () => {
      const stored = await rowOf("select to_block::int from ahs.stored_history where wallet = $1");
      return stored?.to_block === followed?.followed_block ? true : null;
    });
    for (let call = 0; call < LATER_CALLS; call += 1) await kit.chain.succeed(WALLET);

    const rescored = await until({ what: "the wallet is scored anew by itself" }, async () => {
      const row = await rowOf(
        "select coverage, features from ahs.score where wallet = $1 order by id desc limit 1",
      );
      const record = row as unknown as AhsRecord;
      return samplesOf(record) === PAST_CALLS + LATER_CALLS ? record : null;
    });
    expect(rescored.coverage).toMatchObject({
      fromBlock: 0,
      complete: true,
      sources: ["index", "otterscan"],
    });

    const again = await untilAnswered();
    expect(again.coverage).toMatchObject({ from_block: 0, complete: true, sources: ["index", "otterscan"] });
    expect(samplesOf(again)).toBe(PAST_CALLS + LATER_CALLS);
    expect(await requestsOf(kit)).toBe(1);
    expect(await readBalance(kit.db, id)).toBe(BALANCE - 2_000);
  }, 240_000);
}

function samplesOf({ features }: AhsRecord): number | undefined {
  return features.find(({ name }) => name === "success_rate")?.samples;
}

async function requestsOf({ chain }: Testkit): Promise<number> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const events = await client.getContractEvents({
    address: chain.deployment.oracle.address,
    abi: agentHealthOracleAbi,
    eventName: "ScoreRequested",
    args: { wallet: WALLET },
    fromBlock: 0n,
  });
  return events.length;
}
