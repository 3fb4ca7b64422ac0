import { describe, expect, it } from "vitest";
import type { SubscribeRequest } from "../../../../service/alerts/subscriptions.ts";
import type { ReportSource } from "../../../../service/api/kit/wallet-report.ts";
import {
  type ProtectAnswer,
  protectSchema,
} from "../../../../service/api/routes/get-agent-protect-schema.ts";
import type { Services } from "../../../../service/api/services.ts";
import { NodeFailure } from "../../../../service/chain/node/failure.ts";
import type { OwnCall } from "../../../../service/model/features/types.ts";

import { account, callsOf, USDC } from "../../model/features/histories.ts";
import {
  bodyOf,
  fakeApp,
  fakeLedger,
  KEY,
  WALLET,
  WALLET_EIP55,
  WITH_KEY,
  walletSnapshot,
} from "../fake-ports.ts";
import { AS_OF_SECONDS, reportSource } from "../report-source.ts";
import { fakeAlertPorts, SECRET } from "./fake-alert-ports.ts";
import { fakeRecovery } from "./fake-recovery.ts";

const PATH = `/agent/protect/${WALLET}`;
const HOOK = `${PATH}?webhook_url=https://hooks.example.com/agent-health`;
const TOKEN = account(0xa1);
const SPENDER = account(0xd9);

const newest = (call: OwnCall, place: number): OwnCall => ({ ...call, blockNumber: AS_OF_SECONDS + place });
/** The call by which the approval was given. */
const GIVING = callsOf([{ at: AS_OF_SECONDS - 3_600, to: TOKEN }]).map(newest);

/** A wallet that let an account without code take all of a token. */
const open = ((): ReportSource => {
  const approval = {
    token: TOKEN,
    spender: SPENDER,
    kind: "amount",
    approvedAt: AS_OF_SECONDS - 3_600,
  } as const;
  const { rows, asOf } = reportSource({
    approvals: [approval],
    calls: [...reportSource().rows.calls, ...GIVING],
  });
  const counterparties = rows.counterparties.map((known) =>
    known.address === SPENDER ? { ...known, hasCode: false, outsideUsers: 0 } : known,
  );
  return { asOf, rows: { ...rows, counterparties } };
})();

async function protect(changes: Partial<Omit<Services, "scores" | "infrastructure">> = {}, path = PATH) {
  const fake = fakeApp({ readWallet: async () => open, ...changes }, fakeLedger({ balanceUnits: 25_000 }));
  const response = await fake.app.request(path, WITH_KEY);
  return { ...fake, response, body: await bodyOf<ProtectAnswer>(response) };
}

describe("GET /agent/protect/{address}", () => {
  it("answers one ranked plan whose transactions follow one another, for twenty-five dollars", async () => {
    const { response, body, keys, read } = await protect();
    expect(response.status).toBe(200);
    expect(body).toMatchObject({
      address: WALLET_EIP55,
      risk_level: "LOW",
      risk_score: 16,
      simulated_at: { block: 1000 },
      transactions: 2,
      first_nonce: 7,
      simulated_in_order: true,
      monitoring: null,
    });
    expect(body.steps.map(({ priority }) => priority)).toEqual(body.steps.map((_, place) => place + 1));
    const signable = body.steps.filter(({ transaction }) => transaction !== null);
    expect(signable.map(({ kind, transaction }) => [kind, transaction?.nonce])).toEqual([
      ["revoke_approval", 7],
      ["retry_transaction", 8],
    ]);
    expect(body.steps.map(({ kind }) => kind)).toContain("set_gas_limit");
    expect(body.charged).toBe(true);
    expect(keys.balance()).toBe(0);
    expect(read).toEqual([WALLET]);
  });

  it("simulates a plan of revocations alone as well, and leaves out what fails in it", async () => {
    const approvals = [TOKEN, USDC].map((token) => ({
      ...{ token, spender: SPENDER, kind: "amount" as const, approvedAt: AS_OF_SECONDS - 3_600 },
    }));
    const { rows, asOf } = open;
    const readWallet = async () => ({ asOf, rows: { ...rows, approvals } });
    const simulations: number[] = [];
    const recovery = fakeRecovery(
      {
        simulateSequence: async (calls) => {
          simulations.push(calls.length);
          return calls.map(({ to }) => (to === USDC ? "paused" : null));
        },
      },
      { failures: [] },
    );
    const { body } = await protect({ readWallet, recovery });
    const revocations = body.steps.filter(({ kind }) => kind === "revoke_approval");
    expect(revocations.map(({ not_ready_reason }) => not_ready_reason).toSorted()).toEqual([
      expect.stringContaining("paused"),
      null,
    ]);
    expect(simulations).toEqual([2]);
    expect(body).toMatchObject({ transactions: 1, simulated_in_order: true });
    const blind = await protect({
      readWallet,
      recovery: fakeRecovery({ simulateSequence: async () => null }),
    });
    expect(blind.body.simulated_in_order).toBe(false);
  });

  it("leaves approvals that a token logged by itself alone", async () => {
    const { rows, asOf } = open;
    const unknown = {
      ...rows,
      counterparties: rows.counterparties.filter(({ address }) => address !== TOKEN),
    };
    const calls = rows.calls.filter(({ to }) => to !== TOKEN);
    const { body } = await protect({ readWallet: async () => ({ asOf, rows: { ...unknown, calls } }) });
    expect(body.steps.filter(({ kind }) => kind === "revoke_approval")).toEqual([]);
  });

  it("warns of revoking what was used lately, and says when", async () => {
    const { rows, asOf } = open;
    const at = AS_OF_SECONDS - 600;
    const calls = [...rows.calls, ...callsOf([{ at, to: SPENDER }]).map(newest)];
    const { body } = await protect({ readWallet: async () => ({ asOf, rows: { ...rows, calls } }) });
    expect(body.steps.find(({ kind }) => kind === "revoke_approval")).toMatchObject({
      last_used_at: new Date(at * 1000).toISOString(),
      warning: expect.stringContaining("may break"),
    });
  });

  it("prepares nothing for a wallet that is listed itself but to take approvals back", async () => {
    const recovery = { ...fakeRecovery(), listed: async () => new Set([WALLET]) };
    const { body } = await protect({ recovery });
    const signable = body.steps.filter(({ transaction }) => transaction !== null);
    expect(signable.map(({ kind }) => kind)).toEqual(["revoke_approval"]);
    expect(body.not_retried.map(({ reason }) => reason)).toEqual(["wallet_listed"]);
  });

  it("charges nothing and starts no monitoring for an empty plan, and says what was checked", async () => {
    const bought: SubscribeRequest[] = [];
    const keys = fakeLedger({ balanceUnits: 25_000 });
    const { app } = fakeApp(
      {
        readWallet: async () => reportSource({ calls: [], approvals: [] }),
        recovery: fakeRecovery({}, { failures: [] }),
        ...fakeAlertPorts(keys.ledger, bought),
      },
      keys,
    );
    const body = await bodyOf<ProtectAnswer>(await app.request(HOOK, WITH_KEY));
    expect(protectSchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      ...{ steps: [], transactions: 0, simulated_in_order: null, monitoring: null, charged: false },
      summary: "There is nothing to sign. 9 of 11 checks passed, 2 have no data. Nothing was charged.",
    });
    expect([keys.balance(), keys.states(), bought]).toEqual([25_000, [], []]);
  });

  it("says why an approval cannot be taken back by a transaction", async () => {
    const { body } = await protect({
      recovery: fakeRecovery({ attempt: async () => ({ kind: "fails", reason: "paused" }) }),
    });
    const step = body.steps.find(({ kind }) => kind === "revoke_approval");
    expect(step).toMatchObject({ transaction: null, not_ready_reason: "The revocation fails: paused" });
    expect(body).toMatchObject({ transactions: 0, total_max_cost_wei: "0" });
  });

  it("monitors for 30 days where a webhook is named, and shows its secrets in the first answer alone", async () => {
    const bought: SubscribeRequest[] = [];
    const keys = fakeLedger({ balanceUnits: 25_000 });
    const { app } = fakeApp({ readWallet: async () => open, ...fakeAlertPorts(keys.ledger, bought) }, keys);
    const request = { headers: { "X-API-Key": KEY, "Idempotency-Key": '"once"' } };
    const first = await bodyOf<ProtectAnswer>(await app.request(HOOK, request));
    const again = await bodyOf<ProtectAnswer>(await app.request(HOOK, request));
    expect(bought).toEqual([
      {
        wallet: WALLET,
        owner: "key:key-1",
        webhookUrl: "https://hooks.example.com/agent-health",
        events: null,
        thresholds: null,
        purchase: `debit ${bought[0]?.debitId}`,
        debitId: expect.stringMatching(/^25000:/),
      },
    ]);
    expect(first.monitoring).toMatchObject({ address: WALLET_EIP55, secret: SECRET });
    expect(again).toEqual({
      ...first,
      monitoring: { ...first.monitoring, secret: null, manage_token: null },
    });
    expect(keys.balance()).toBe(0);
  });

  it("sells no monitoring where the plan fails, and charges nothing", async () => {
    const bought: SubscribeRequest[] = [];
    const keys = fakeLedger({ balanceUnits: 25_000 });
    const recovery = fakeRecovery({
      attempt: async () => {
        throw new NodeFailure("unreachable", "gone");
      },
    });
    const { app } = fakeApp({ recovery, ...fakeAlertPorts(keys.ledger, bought) }, keys);
    expect((await app.request(HOOK, WITH_KEY)).status).toBe(503);
    expect([bought, keys.balance(), keys.states()]).toEqual([[], 25_000, []]);
  });

  it.each<[string, number, Parameters<typeof fakeApp>[0]]>([
    [
      "the wallet is not followed",
      404,
      { scores: { snapshot: async () => walletSnapshot({ followed: false }) } },
    ],
    ["the index holds no block", 503, { scores: { snapshot: async () => walletSnapshot({ head: null }) } }],
    ["the node is behind", 503, { recovery: fakeRecovery({ block: async () => null }) }],
  ])("costs nothing while %s", async (_name, status, changes) => {
    const { app, keys } = fakeApp(changes, fakeLedger({ balanceUnits: 25_000 }));
    expect((await app.request(PATH, WITH_KEY)).status).toBe(status);
    expect([keys.balance(), keys.states()]).toEqual([25_000, []]);
  });
});
