import { randomUUID } from "node:crypto";
import type { PaymentPayload } from "@x402/core/types";
import { AUTH_CAPTURE_ESCROW_V1_0_ADDRESS } from "@x402/evm";
import { decodePaymentResponseHeader } from "@x402/fetch";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Address } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { roleAccounts } from "../../../../../devnet/accounts.ts";
import { createPaymentMetrics } from "../../../../../service/access/payments/metrics.ts";
import { reconcilePayments } from "../../../../../service/access/payments/run-reconciliation.ts";
import { decideCapture, sweepCaptures } from "../../../../../service/access/schemes/auth-capture/captures.ts";
import { SCHEMES } from "../../../../../service/access/schemes/schemes.ts";
import { usdCoinAbi } from "../../../../../service/chain/abi/usd-coin.ts";
import { openUsdcChain, type UsdcChain } from "../../../../support/usdc-chain.ts";
import { paid, paymentWorld } from "../../payment-world.ts";

const { payer, payee } = roleAccounts();
const PATH = "/captured/1";
const PRICE = 500_000n;
const STRANGER = "0x00000000000000000000000000000000000000ff";
const CLIENT = `0x${"c1".repeat(20)}`;

let usdc: UsdcChain;
let offsetMs = 0;
const now = () => new Date(Date.now() + offsetMs);

beforeAll(async () => {
  usdc = await openUsdcChain();
});
afterEach(async () => {
  await usdc.stopSender();
  offsetMs = 0;
  await usdc.db.$client.query("truncate ahs.payment, ahs.verdict, ahs.job_spec cascade");
});
afterAll(() => usdc.close());

function open() {
  return paymentWorld(usdc.db, {
    on: {
      facilitator: usdc.facilitator({ settleDeadlineMs: 4_000 }),
      chain: usdc.paymentChain,
      asset: usdc.usdc,
      payTo: payee.address,
      account: payer,
    },
    offered: ["exact", "auth-capture"],
    scheme: "auth-capture",
  });
}

describe("the official client pays by auth-capture", () => {
  it.each([
    ["capturing", "captured", { payer: -PRICE, payee: PRICE, escrow: 0n }],
    ["voiding", "voided", { payer: 0n, payee: 0n, escrow: 0n }],
  ] as const)(
    "its money waits in the escrow, and %s moves it once, whichever process dies",
    async (to, end, moved) => {
      usdc.startSender();
      const before = await balances();
      const verdictId = await buy(open());
      expect(difference(await balances(), before)).toEqual({ payer: -PRICE, payee: 0n, escrow: PRICE });
      await sweep();
      expect(await stateOf()).toEqual({ state: "answered", capture_state: "authorized" });
      await decide(verdictId, to);
      // A second decision changes nothing.
      await decide(verdictId, to === "voiding" ? "capturing" : "voiding");
      await usdc.stopSender();
      await Promise.all([sweep(), sweep()]);
      usdc.startSender();
      await sweepUntil(end);
      await sweep();
      expect(difference(await balances(), before)).toEqual(moved);
      const { rows } = await usdc.db.$client.query(
        "select state from ahs.sender_transaction where reference like '%/auth-capture/end' order by id desc limit 1",
      );
      expect(rows).toEqual([{ state: "mined" }]);
    },
  );

  it("and gets its money back where nothing is ever decided about", async () => {
    usdc.startSender();
    const before = await balances();
    const shop = open();
    shop.works.failure = new Error("broken");
    const failed = await shop.request(PATH, paid(await shop.sign(PATH)));
    const { claim } = (await failed.json()) as { claim: string };
    expect([failed.status, await stateOf()]).toEqual([
      503,
      { state: "settled", capture_state: "authorized" },
    ]);
    offsetMs = 3_600_000 + 200_000;
    await sweepUntil("voided");
    expect(difference(await balances(), before)).toEqual({ payer: 0n, payee: 0n, escrow: 0n });
    shop.works.failure = null;
    const again = await shop.request(PATH, { "x-payment-claim": claim });
    expect([again.status, await again.json()]).toMatchObject([
      402,
      { error: expect.stringContaining("payment_returned") },
    ]);
    await reconcile();
    expect(await stateOf()).toEqual({ state: "answered", capture_state: "voided" });
  });

  it("is refused where it does not commit to the terms", async () => {
    const shop = open();
    const payload = await shop.sign(PATH);
    const { authorization } = payload.payload as { authorization: object };
    const extra = (changes: object): Partial<PaymentPayload> => ({
      accepted: { ...payload.accepted, extra: { ...payload.accepted.extra, ...changes } },
    });
    const changed: readonly (readonly [Partial<PaymentPayload>, string])[] = [
      [extra({ captureAuthorizer: STRANGER }), "invalid_capture_authorizer"],
      [extra({ captureDeadline: 1 }), "invalid_capture_deadline"],
      [{ payload: { ...payload.payload, salt: "0x01" } }, "invalid_nonce"],
      [
        { payload: { ...payload.payload, authorization: { ...authorization, validBefore: "1".repeat(70) } } },
        "invalid_valid_before",
      ],
      [
        { payload: { ...payload.payload, authorization: { ...authorization, to: STRANGER } } },
        "invalid_collector",
      ],
      [{ payload: { ...payload.payload, signature: `0x${"11".repeat(64)}1b` } }, "invalid_signature"],
    ];
    for (const [change, error] of changed) {
      const response = await shop.request(PATH, paid({ ...payload, ...change }));
      expect([response.status, await response.json()]).toMatchObject([
        402,
        { error: expect.stringContaining(error) },
      ]);
    }
  });
});

describe("a server killed", () => {
  it("after it queued the call of the escrow: charged once, owed, and looked after", async () => {
    const before = await balances();
    const shop = open();
    const pending = await shop.request(PATH, paid(await shop.sign(PATH)));
    expect(pending.status).toBe(503);
    usdc.startSender();
    await expect
      .poll(async () => {
        await reconcile();
        return (await stateOf())?.state;
      })
      .toBe("settled");
    expect(await stateOf()).toEqual({ state: "settled", capture_state: "authorized" });
    expect(difference(await balances(), before)).toEqual({ payer: -PRICE, payee: 0n, escrow: PRICE });
  });
});

/** Buys, and stores a verdict that the payment pays. */
async function buy(shop: ReturnType<typeof open>): Promise<string> {
  const response = await shop.request(PATH, paid(await shop.sign(PATH)));
  expect(response.status, await response.clone().text()).toBe(200);
  expect(decodePaymentResponseHeader(response.headers.get("payment-response") ?? "")).toMatchObject({
    success: true,
    amount: String(PRICE),
  });
  const [verdictId, specId] = [randomUUID(), randomUUID()];
  await usdc.db.$client.query(
    `with spec as (
       insert into ahs.job_spec (id, client_addr, domain, spec_hash, created_at) values ($2, $3, 'general', '0x00', now())
     )
     insert into ahs.verdict (id, spec_id, slot, output_hash, submitted_by, submitter_addr, provider_addr, owner, units, payment_id,
       status, not_before, cause, created_at, updated_at)
     select $1, $2, 'spec:' || $2, '0x00', 'client', $3, $3, 'wallet:x', 500, id, 'processing', now(), 'submitted', now(), now()
     from ahs.payment order by created_at desc limit 1`,
    [verdictId, specId, CLIENT],
  );
  return verdictId;
}

function decide(verdictId: string, to: "capturing" | "voiding"): Promise<void> {
  return usdc.db.transaction((tx) => decideCapture(tx, verdictId, { to, at: now() }));
}

function deps() {
  return {
    ...{ db: usdc.db, chainId: 31_337, client: usdc.client, chain: usdc.paymentChain, ownSender: true },
    schemes: SCHEMES,
    spending: null,
    metrics: createPaymentMetrics(new Registry()),
    logger: pino({ level: "silent" }),
    now,
  };
}

async function sweep(): Promise<void> {
  offsetMs += 10_000;
  await sweepCaptures(deps());
}

async function reconcile(): Promise<void> {
  offsetMs += 30_000;
  await reconcilePayments(deps());
}

/** Sweeps and makes blocks final until the payment has that state. */
async function sweepUntil(end: string): Promise<void> {
  await expect
    .poll(
      async () => {
        await sweep();
        await usdc.chain.mine(usdc.chain.deployment.finalityBlocks, 0);
        return (await stateOf())?.capture_state;
      },
      { interval: 300 },
    )
    .toBe(end);
}

async function stateOf() {
  const { rows } = await usdc.db.$client.query<{ state: string; capture_state: string }>(
    "select state, capture_state from ahs.payment order by created_at desc limit 1",
  );
  return rows[0];
}

type Balances = Readonly<Record<"payer" | "payee" | "escrow", bigint>>;

async function balances(): Promise<Balances> {
  const of = (account: Address) =>
    usdc.client.readContract({
      ...{ address: usdc.usdc, abi: usdCoinAbi, functionName: "balanceOf", args: [account] },
    });
  const [own, theirs, held] = await Promise.all([
    of(payer.address),
    of(payee.address),
    of(AUTH_CAPTURE_ESCROW_V1_0_ADDRESS),
  ]);
  return { payer: own, payee: theirs, escrow: held };
}

function difference(after: Balances, before: Balances): Balances {
  return {
    payer: after.payer - before.payer,
    payee: after.payee - before.payee,
    escrow: after.escrow - before.escrow,
  };
}
