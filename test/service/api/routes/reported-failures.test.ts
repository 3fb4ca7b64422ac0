import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import type { ProtectAnswer } from "../../../../service/api/routes/get-agent-protect-schema.ts";
import type { RetryAnswer } from "../../../../service/api/routes/get-retry.ts";
import type { CallOutcomes } from "../../../../service/reports/recovery/failed-calls.ts";
import type { RecoveryNode } from "../../../../service/reports/recovery/recovery-node.ts";
import { bodyOf, fakeApp, fakeLedger, WALLET, WITH_KEY } from "../fake-ports.ts";
import { reportSource } from "../report-source.ts";
import { fakeRecovery, reportedFailure, reportedOutcomes, TARGET, WORK } from "./fake-recovery.ts";

const knows: RecoveryNode["transaction"] = async (hash) => ({
  ...{ hash, from: WALLET, to: TARGET, nonce: 3, input: WORK, value: 0n, block: reportedFailure().block },
});

/** Requests a path for a wallet whose only failure is older than the index's record of it. */
async function ask<Answer>(
  path: string,
  transaction: RecoveryNode["transaction"],
  reported: Partial<CallOutcomes["reported"]> = {},
) {
  const recovery = fakeRecovery({ transaction }, { failures: [], reported: reportedOutcomes(reported) });
  const { rows, asOf } = reportSource({ calls: [], approvals: [] });
  const coverage = { ...rows.coverage, complete: true, sources: ["index", "explorer"] };
  const source = { rows: { ...rows, coverage }, asOf };
  const fake = fakeApp({ readWallet: async () => source, recovery }, fakeLedger({ balanceUnits: 25_000 }));
  const response = await fake.app.request(`${path}/${WALLET}`, WITH_KEY);
  return { keys: fake.keys, response, body: await bodyOf<Answer>(response) };
}

describe("a failure from before the index followed the wallet", () => {
  it("is offered by /retry as any other", async () => {
    const { body } = await ask<RetryAnswer>("/retry", knows);
    expect(body).toMatchObject({
      coverage: { complete: true },
      failures_found: 1,
      offers: [
        {
          failure: { hash: reportedFailure().hash, nonce: 3, intent: "other" },
          transaction: { nonce: 7, data: WORK },
        },
      ],
      not_retried: [],
    });
  });

  it("is listed as not read where the node does not know it, and the answer is not complete then", async () => {
    const { body } = await ask<RetryAnswer>("/retry", async () => null);
    expect(body).toMatchObject({
      coverage: { complete: false },
      failures_found: 1,
      offers: [],
      not_retried: [
        {
          failure: { hash: reportedFailure().hash, nonce: null, intent: null, cause: "reverted" },
          reason: "not_read",
          by: null,
        },
      ],
    });
  });

  it("leaves an answer complete where it is known, and only too old to be offered", async () => {
    const old = reportedFailure({ timestamp: reportedFailure().timestamp - 20 * 86_400 });
    const { body } = await ask<RetryAnswer>("/retry", knows, { failures: [old] });
    expect(body).toMatchObject({ coverage: { complete: true }, not_retried: [{ reason: "too_old" }] });
  });

  it("makes an answer incomplete where more failed than are listed", async () => {
    const { body } = await ask<RetryAnswer>("/retry", knows, { failuresFound: 201 });
    expect(body).toMatchObject({ coverage: { complete: false }, failures_found: 201 });
  });

  it("is in the plan of /agent/protect", async () => {
    const { body } = await ask<ProtectAnswer>("/agent/protect", knows);
    expect(body.checks.find(({ name }) => name === "retries")).toEqual({
      ...{ name: "retries", passed: false, found: 1 },
      result: "1 failed transaction in 30 days; 1 can be repeated now.",
    });
    expect(body.steps).toMatchObject([{ kind: "retry_transaction", transaction: { nonce: 7 } }]);
  });

  it("makes /agent/protect report that it is not complete where the calldata is not known", async () => {
    const { body } = await ask<ProtectAnswer>("/agent/protect", async () => null);
    expect(body).toMatchObject({ coverage: { complete: false }, not_retried: [{ reason: "not_read" }] });
  });

  it("is not offered where its calldata, read from the node, names a listed account", async () => {
    const reported = fakeRecovery({ transaction: knows }, { failures: [], reported: reportedOutcomes() });
    const recovery = {
      ...reported,
      listed: async (accounts: ReadonlySet<Address>) =>
        new Set([...accounts].filter((account) => account !== WALLET)),
    };
    const { app } = fakeApp({ recovery }, fakeLedger({ balanceUnits: 10_000 }));
    const body = await bodyOf<RetryAnswer>(await app.request(`/retry/${WALLET}`, WITH_KEY));
    expect(body).toMatchObject({ offers: [], not_retried: [{ reason: "listed_account" }] });
  });
});
