import { getAddress, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import type { RetryAnswer } from "../../service/api/routes/get-retry.ts";
import type { Testkit } from "../support/anvil-testkit/testkit.ts";
import { until } from "../support/until.ts";
import { agentCalls } from "./reports-agent-calls.ts";
import type { ReportStand } from "./reports-stand.ts";

/** Never registered: the index follows it only after a call that pays for its score. */
const WALLET = getAddress("0x00000000000000000000000000000000000a9e78");
const { work, refuse, repair, breakDown } = agentCalls(WALLET);
const sent: Hex[] = [];

/** Makes two failures of an unfollowed wallet, one of which would succeed now. */
export async function makeReportedPast({ chain }: Testkit): Promise<void> {
  const { repairableTarget, revertOnDemand } = chain.contracts;
  await chain.rpc.request("anvil_setBalance", WALLET, numberToHex(10n ** 20n));
  await chain.send({ from: roleAccounts().deployer.address, to: repairableTarget, data: breakDown });
  for (const call of [
    { to: repairableTarget, data: work },
    { to: revertOnDemand, data: refuse },
  ]) {
    const { hash, status } = await chain.send({ from: WALLET, ...call });
    expect(status).toBe("reverted");
    sent.push(hash);
  }
  await chain.send({ from: WALLET, to: repairableTarget, data: repair });
}

/** Declares the test of failures that the history source alone knows. */
export function testRetryOfReported({ kit, createCaller }: ReportStand): void {
  test.concurrent("failures from before a wallet was followed are found, tried and offered like any other", async () => {
    const { ask } = await createCaller();
    const untilAnswered = (path: string) =>
      until({ what: `${path} is answered` }, async () => {
        const answer = await ask(`${path}/${WALLET}`);
        return answer.status === 200 ? answer : null;
      });
    await untilAnswered("/ahs");
    await until({ what: "the index meets the told history" }, async () => {
      const { rowCount } = await kit.db.$client.query(
        `select 1 from ahs.stored_history stored join chain_31337.wallet followed on followed.address = stored.wallet
         where stored.wallet = $1 and stored.to_block >= followed.followed_block - 1`,
        [WALLET.toLowerCase()],
      );
      return rowCount === 0 ? null : true;
    });
    const response = await untilAnswered("/retry");
    const { coverage, failures_found, offers, not_retried } = (await response.json()) as RetryAnswer;
    expect(coverage).toMatchObject({ from_block: 0, complete: true, sources: ["index", "otterscan"] });
    expect(failures_found).toBe(2);
    expect(offers).toMatchObject([
      { failure: { hash: sent[0], nonce: 0 }, transaction: { nonce: 3, data: work } },
    ]);
    expect(not_retried).toMatchObject([
      {
        failure: { hash: sent[1], nonce: 1 },
        reason: "simulation_fails",
        detail: expect.stringContaining("not today"),
      },
    ]);
  }, 240_000);
}
