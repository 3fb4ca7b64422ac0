import type { PaymentPayload } from "@x402/core/types";
import { BATCH_SETTLEMENT_ADDRESS, toClientEvmSigner } from "@x402/evm";
import { BatchSettlementEvmScheme, InMemoryClientChannelStorage } from "@x402/evm/batch-settlement/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { pino } from "pino";
import { Registry } from "prom-client";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { roleAccounts } from "../../../../../devnet/accounts.ts";
import { createPaymentMetrics } from "../../../../../service/access/payments/metrics.ts";
import { reconcilePayments } from "../../../../../service/access/payments/run-reconciliation.ts";
import { sweepChannels } from "../../../../../service/access/schemes/batch-settlement/channel-sweep.ts";
import { SCHEMES } from "../../../../../service/access/schemes/schemes.ts";
import { batchSettlementAbi } from "../../../../../service/chain/abi/batch-settlement.ts";
import { usdCoinAbi } from "../../../../../service/chain/abi/usd-coin.ts";
import { openUsdcChain, type UsdcChain } from "../../../../support/usdc-chain.ts";
import { ORIGIN, paid, paymentWorld } from "../../payment-world.ts";

const { payer, payee } = roleAccounts();
const PATH = "/cheap/1";
const PRICE = 10_000n;
const DEPOSIT = 100_000n;
const MISMATCH = "invalid_batch_settlement_evm_cumulative_amount_mismatch";
const STRANGER = "0x00000000000000000000000000000000000000ff";
const ENDLESS = { validAfter: "0", validBefore: "9".repeat(70), salt: "1", signature: "0x11" };
const HALF_DAY_MS = 43_200_000;

let usdc: UsdcChain;
let offsetMs = 0;
let salts = 0;
let isDear = false;
const now = () => new Date(Date.now() + offsetMs);

beforeAll(async () => {
  usdc = await openUsdcChain();
});
afterEach(async () => {
  await usdc.stopSender();
  offsetMs = 0;
  await usdc.db.$client.query(
    "truncate ahs.payment, ahs.payment_channel, ahs.idempotent_answer, ahs.sender_transaction",
  );
});
afterAll(() => usdc.close());

describe("the official client pays by batch-settlement", () => {
  it("with one deposit for many calls, of which each voucher is charged once, and the sum arrives", async () => {
    usdc.startSender();
    const before = await balances();
    const { shop, pay } = open();
    const first = await pay(PATH);
    expect(reportOf(first)).toMatchObject({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      amount: "100000",
      extra: {
        chargedAmount: "10000",
        channelState: { balance: "100000", chargedCumulativeAmount: "10000" },
      },
    });
    // No call waits for a transaction.
    await usdc.stopSender();
    for (const charged of ["20000", "30000"]) {
      const next = await pay(PATH);
      expect(reportOf(next)).toMatchObject({
        ...{ success: true, transaction: "", amount: "" },
        extra: { chargedAmount: "10000", channelState: { chargedCumulativeAmount: charged } },
      });
    }
    expect((await shop.rows()).map(({ state, chargedAmount }) => [state, chargedAmount])).toEqual(
      Array.from({ length: 3 }, () => ["answered", PRICE]),
    );
    expect(difference(await balances(), before)).toEqual({ payer: -DEPOSIT, payee: 0n, contract: DEPOSIT });
    await sweep();
    expect(await channels()).toMatchObject([{ charged: "30000", collect_order: null }]);
    offsetMs += HALF_DAY_MS;
    await Promise.all([sweep(), sweep()]);
    expect(await ordersOf("collect")).toHaveLength(1);
    usdc.startSender();
    await sweepUntil(async () => (await balances()).payee - before.payee === 30_000n);
    await sweep();
    expect(difference(await balances(), before)).toEqual({
      ...{ payer: -DEPOSIT, payee: 30_000n, contract: DEPOSIT - 30_000n },
    });
    expect(await channels()).toMatchObject([{ charged: "30000", collected: "30000", collect_order: null }]);
    await expect
      .poll(async () => [await ordersOf("collect"), await ordersOf("settle")])
      .toEqual([[{ state: "mined" }], [{ state: "mined" }]]);
    // A client that has lost its state goes on by the answer to its voucher, as does the channel.
    const forgetful = open({ salt: lastSalt() });
    expect((await pay(PATH)).status).toBe(200);
    expect(reportOf(await forgetful.pay(PATH))).toMatchObject({
      extra: { channelState: { totalClaimed: "30000", chargedCumulativeAmount: "50000" } },
    });
  });

  it("and is charged once for a voucher, however often it is shown", async () => {
    usdc.startSender();
    const { shop, pay, sign } = open();
    await pay(PATH);
    const headers = { ...paid(await sign(PATH)), "idempotency-key": "a-key-of-22-characters" };
    const [answered] = await Promise.all(Array.from({ length: 6 }, () => shop.request(PATH, headers)));
    const all = await shop.request(PATH, headers);
    expect([answered?.status === 200 || answered?.status === 409, all.status]).toEqual([true, 200]);
    const first = await all.json();
    expect(await (await shop.request(PATH, headers)).json()).toEqual(first);
    expect(shop.works.done).toBe(2);
    const { "idempotency-key": _, ...unproven } = headers;
    const refused = await shop.request(PATH, unproven);
    expect([refused.status, await refused.json()]).toMatchObject([
      402,
      {
        error: MISMATCH,
        accepts: [
          {},
          {
            extra: {
              channelState: { chargedCumulativeAmount: "20000" },
              voucherState: { signedMaxClaimable: "20000" },
            },
          },
        ],
      },
    ]);
    expect(await channels()).toMatchObject([{ charged: "20000" }]);
  });

  it("two requests at once by different vouchers over the same amount: one is charged", async () => {
    usdc.startSender();
    const { shop, pay, sign } = open();
    await pay(PATH);
    const [cent, tenth] = [await sign(PATH), await sign("/cheapest/1")];
    const gate = Promise.withResolvers<void>();
    shop.works.gate = gate.promise;
    const both = [shop.request(PATH, paid(cent)), shop.request("/cheapest/1", paid(tenth))];
    await expect.poll(() => shop.works.done).toBe(3);
    gate.resolve();
    const answers = await Promise.all(both);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 402]);
    const [{ charged } = { charged: "" }] = await channels();
    expect(charged).toBe(answers[0]?.status === 200 ? "20000" : "11000");
    // The one that was not charged is not wasted.
    expect((await pay(PATH)).status).toBe(200);
  });

  it("and pays nothing for work that fails: the same voucher buys something else", async () => {
    usdc.startSender();
    const { shop, pay, sign } = open();
    await pay(PATH);
    const headers = paid(await sign(PATH));
    shop.works.failure = new Error("broken");
    expect((await shop.request(PATH, headers)).status).toBe(500);
    expect(await channels()).toMatchObject([{ charged: "10000" }]);
    shop.works.failure = null;
    const elsewhere = await sign("/cheap/2");
    expect((await shop.request("/cheap/2", paid(elsewhere))).status).toBe(200);
    expect(await channels()).toMatchObject([{ charged: "20000" }]);
  });

  it.each([
    [{ config: { receiverAuthorizer: STRANGER } }, "invalid_receiver_authorizer"],
    [{ config: { receiver: STRANGER } }, "invalid_recipient"],
    [{ config: { token: STRANGER } }, "invalid_asset"],
    [{ config: { withdrawDelay: 900 } }, "invalid_withdraw_delay"],
    [{ config: { payerAuthorizer: STRANGER } }, "invalid_payer_authorizer"],
    [{ config: { payer: STRANGER, payerAuthorizer: STRANGER } }, "invalid_channel_id"],
    [{ config: { salt: `0x${"11".repeat(32)}` } }, "invalid_channel_id"],
    [{ voucher: { maxClaimableAmount: "10001" } }, "invalid_signature"],
    [{ voucher: { signature: `0x${"11".repeat(64)}1b` } }, "invalid_signature"],
    [{ deposit: { amount: "99999" } }, "invalid_deposit"],
    [{ deposit: { amount: "100001" } }, "simulation_failed"],
    [{ type: "voucher" }, "channel_not_found"],
    [{ type: "refund" }, "unsupported_scheme"],
  ])("and is refused with %j: %s", async (changes, error) => {
    const { shop, sign } = open();
    const payload = await sign(PATH);
    const response = await shop.request(PATH, paid({ ...payload, payload: changed(payload, changes) }));
    expect([response.status, await response.json()]).toMatchObject([
      402,
      { error: expect.stringContaining(error) },
    ]);
    expect([await shop.rows(), await channels(), shop.works.done]).toEqual([[], [], 0]);
  });

  it.each([
    [{ voucher: { maxClaimableAmount: String(1n << 128n) } }],
    [{ voucher: { channelId: "0x12" } }],
    [{ config: { payer: "0x12" } }],
    [{ deposit: { amount: "-1" } }],
    [{ deposit: { authorization: { erc3009Authorization: ENDLESS } } }],
  ])("and is malformed with %j", async (changes) => {
    const { shop, sign } = open();
    const payload = await sign(PATH);
    const response = await shop.request(PATH, paid({ ...payload, payload: changed(payload, changes) }));
    expect(response.status).toBe(400);
  });

  it("is not refused for good while the gas that was spent is unknown", async () => {
    const { shop, sign } = open({ spending: { refusal: () => Promise.reject(new Error("no database")) } });
    expect((await shop.request(PATH, paid(await sign(PATH)))).status).toBe(503);
    expect([await shop.rows(), await channels(), shop.works.done]).toEqual([[], [], 0]);
  });

  it("and a deposit that the channel does not need is worth its call alone", async () => {
    usdc.startSender();
    const worths: bigint[] = [];
    const spending = {
      refusal: async ({ priceMicroUsd }: { readonly priceMicroUsd: bigint }) => {
        worths.push(priceMicroUsd);
        return null;
      },
    };
    const { shop, pay } = open({ spending });
    await pay("/cheapest/1");
    // A client that does not know of its deposit.
    const storage = new InMemoryClientChannelStorage();
    storage.get = async () => ({ chargedCumulativeAmount: "1000" });
    const again = await open({ salt: lastSalt(), storage }).sign("/cheapest/1");
    expect((await shop.request("/cheapest/1", paid(again))).status).toBe(200);
    expect(worths).toEqual([PRICE, 1_000n]);
    expect(await channels()).toMatchObject([{ charged: "2000", balance: "200000" }]);
  });

  it("and a wallet without the money makes no deposit", async () => {
    const poor = privateKeyToAccount(generatePrivateKey());
    const { shop, sign } = open({ account: poor });
    const response = await shop.request(PATH, paid(await sign(PATH)));
    expect([response.status, await response.json()]).toMatchObject([
      402,
      { error: expect.stringContaining("insufficient_funds") },
    ]);
  });
});

describe("the worker", () => {
  it("claims many channels by one order that is worth its gas, each alone after it failed", async () => {
    usdc.startSender();
    const before = await balances();
    const shops = [open(), open()];
    for (const { pay } of shops) expect((await pay(PATH)).status).toBe(200);
    await usdc.stopSender();
    offsetMs += 2 * HALF_DAY_MS;
    isDear = true;
    await sweep();
    expect(await ordersOf("collect")).toEqual([]);
    isDear = false;
    offsetMs += 300_000;
    await sweep();
    const [first, second] = await channels();
    expect([first?.collect_order, await ordersOf("collect")]).toEqual([
      second?.collect_order,
      [{ state: "queued" }],
    ]);
    // As a sender ends a call whose simulation reverts.
    await usdc.db.$client.query("update ahs.sender_transaction set state = 'failed' where id = $1", [
      first?.collect_order,
    ]);
    await sweep();
    await sweep();
    expect(await channels()).toMatchObject([{ collect_order: null }, { collect_order: null }]);
    expect(await ordersOf("collect")).toHaveLength(1);
    offsetMs += 600_000;
    await sweep();
    expect(await ordersOf("collect")).toEqual(["failed", "queued", "queued"].map((state) => ({ state })));
    usdc.startSender();
    await sweepUntil(async () => (await balances()).payee - before.payee === 20_000n);
  });

  it("claims nothing at once for a withdrawal that leaves what was charged", async () => {
    usdc.startSender();
    const { pay, config } = open();
    await pay(PATH);
    await usdc.stopSender();
    await asPayer("initiateWithdraw", [await config(PATH), 1n]);
    offsetMs += 3_600_000;
    expect((await pay(PATH)).status).toBe(200);
    await sweep();
    expect(await channels()).toMatchObject([{ charged: "20000", collect_order: null }]);
    offsetMs += HALF_DAY_MS;
    await sweep();
    expect(await ordersOf("collect")).toHaveLength(1);
  });

  it("drops the row of a channel that has nothing left, and goes on with a new one", async () => {
    usdc.startSender();
    const { pay } = open();
    await pay(PATH);
    offsetMs += HALF_DAY_MS;
    await sweepUntil(async () => (await channels())[0]?.collected === "10000");
    offsetMs += 100 * 86_400_000;
    await sweepUntil(async () => (await channels()).length === 0);
    offsetMs = 0;
    expect(reportOf(await pay(PATH))).toMatchObject({
      extra: { channelState: { totalClaimed: "10000", chargedCumulativeAmount: "20000" } },
    });
  });
});

describe("a process killed", () => {
  it("after it queued a deposit: the deposit is made once, and the same payment is charged once", async () => {
    const before = await balances();
    const { shop, sign } = open({ settleDeadlineMs: 500 });
    const headers = paid(await sign(PATH));
    expect((await shop.request(PATH, headers)).status).toBe(503);
    // As if the process had died with the row.
    await usdc.db.$client.query("update ahs.payment set state = 'reserved', deadline = now()");
    await reconcile();
    expect(await shop.rows()).toEqual([]);
    usdc.startSender();
    await expect.poll(async () => (await balances()).contract - before.contract).toBe(DEPOSIT);
    await usdc.stopSender();
    expect((await shop.request(PATH, headers)).status).toBe(200);
    expect((await shop.request(PATH, headers)).status).toBe(402);
    expect(await channels()).toMatchObject([{ charged: "10000", balance: "100000" }]);
  });

  it("after it charged a voucher: the answer is owed, without a second charge", async () => {
    usdc.startSender();
    const { shop, pay, sign } = open();
    await pay(PATH);
    const headers = { ...paid(await sign(PATH)), "idempotency-key": "b-key-of-22-characters" };
    await shop.request(PATH, headers);
    await usdc.db.$client.query(
      "update ahs.payment set state = 'settled', answer_type = null, answer_body = null, answered_at = null, deadline = now() where charged_amount is not null",
    );
    await reconcile();
    const successor = open({ salt: lastSalt() });
    const repeated = await successor.shop.request(PATH, headers);
    expect([repeated.status, reportOf(repeated)]).toMatchObject([
      200,
      { extra: { channelState: { chargedCumulativeAmount: "20000" } } },
    ]);
    expect(await channels()).toMatchObject([{ charged: "20000" }]);
  });
});

/** Last, since it leaves the time of the chain a day ahead. */
describe("the rest of a channel is withdrawn", () => {
  it("by its payer: the charged sum is claimed before it", async () => {
    usdc.startSender();
    const before = await balances();
    const { pay, sign, config } = open();
    await pay(PATH);
    await pay(PATH);
    const channel = await config(PATH);
    await asPayer("initiateWithdraw", [channel, DEPOSIT - PRICE]);
    // The channel was seen a moment ago: a withdrawal takes a day, and the worker looks within the hour.
    expect((await pay(PATH)).status).toBe(200);
    offsetMs += 3_600_000;
    await sweepUntil(async () => (await balances()).payee - before.payee === 30_000n);
    const late = await open({ salt: lastSalt() }).shop.request(PATH, paid(await sign(PATH)));
    expect([late.status, await late.json()]).toMatchObject([
      402,
      { error: expect.stringContaining("cumulative_exceeds_balance") },
    ]);
    await usdc.chain.moveTime(86_400);
    await asPayer("finalizeWithdraw", [channel]);
    expect(difference(await balances(), before)).toEqual({ payer: -30_000n, payee: 30_000n, contract: 0n });
  });
});

const saltOf = (number: number): Hex => `0x${number.toString(16).padStart(64, "0")}`;
const lastSalt = () => saltOf(salts);

/** A shop, and an official client with a channel of its own unless it is given one. */
function open({
  salt,
  account = payer,
  storage,
  ...options
}: {
  readonly salt?: Hex;
  readonly account?: LocalAccount;
  readonly storage?: InMemoryClientChannelStorage;
} & Parameters<UsdcChain["facilitator"]>[0] = {}) {
  if (salt === undefined) salts += 1;
  const shop = paymentWorld(usdc.db, {
    on: {
      facilitator: usdc.facilitator({ settleDeadlineMs: 4_000, ...options }),
      chain: usdc.paymentChain,
      asset: usdc.usdc,
      payTo: payee.address,
      account,
      client: usdc.client,
    },
    startMs: offsetMs,
    offered: ["exact", "batch-settlement"],
  });
  const scheme = new BatchSettlementEvmScheme(toClientEvmSigner(account, usdc.client), {
    salt: salt ?? lastSalt(),
    ...(storage === undefined ? {} : { storage }),
  });
  const client = new x402Client().register("eip155:31337", scheme).setSpendControls(false);
  const payFetch = wrapFetchWithPayment(
    async (input: URL | Request | string, init?: RequestInit) => shop.app.request(new Request(input, init)),
    client,
  );
  return {
    shop,
    pay: (path: string) => payFetch(`${ORIGIN}${path}`),
    sign: async (path: string): Promise<PaymentPayload> =>
      client.createPaymentPayload(await shop.terms(path)),
    config: async (path: string) => {
      const { accepts } = await shop.terms(path);
      const offer = accepts.find((entry) => entry.scheme === "batch-settlement");
      if (offer === undefined) throw new Error("it is not offered");
      return scheme.buildChannelConfig(offer);
    },
  };
}

type Changes = {
  readonly type?: string;
  readonly config?: object;
  readonly voucher?: object;
  readonly deposit?: object;
};

function changed({ payload }: PaymentPayload, { type, config, voucher, deposit }: Changes) {
  return {
    type: type ?? payload.type,
    channelConfig: { ...(payload.channelConfig as object), ...config },
    voucher: { ...(payload.voucher as object), ...voucher },
    deposit: { ...(payload.deposit as object), ...deposit },
  };
}

function reportOf(response: Response) {
  expect(response.status).toBe(200);
  return decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
}

async function asPayer(
  functionName: "initiateWithdraw" | "finalizeWithdraw",
  args: readonly unknown[],
): Promise<void> {
  // The arguments are those of the function that the test names.
  const data = encodeFunctionData({ abi: batchSettlementAbi, functionName, args: args as never });
  await usdc.send(payer.address, BATCH_SETTLEMENT_ADDRESS, data);
}

function deps() {
  return {
    ...{ db: usdc.db, chainId: 31_337, client: usdc.client, chain: usdc.paymentChain, ownSender: true },
    schemes: SCHEMES,
    spending: {
      refusal: async () => (isDear ? { kind: "dear" as const, detail: "", retryAfterSeconds: 60 } : null),
    },
    metrics: createPaymentMetrics(new Registry()),
    logger: pino({ level: "silent" }),
    now,
  };
}

async function sweep(): Promise<void> {
  offsetMs += 6_000;
  await sweepChannels(deps());
}

async function reconcile(): Promise<void> {
  await reconcilePayments({ ...deps(), now: () => new Date(Date.now() + 3_600_000) });
}

/** Sweeps and makes blocks final until something is so. */
async function sweepUntil(isSo: () => Promise<boolean>): Promise<void> {
  await expect
    .poll(
      async () => {
        offsetMs += 600_000;
        await sweep();
        await usdc.chain.mine(usdc.chain.deployment.finalityBlocks, 0);
        return isSo();
      },
      { interval: 200 },
    )
    .toBe(true);
}

async function channels() {
  const { rows } = await usdc.db.$client.query<
    Readonly<Record<"charged" | "collected" | "balance" | "collect_order", string>>
  >(
    "select charged::text, collected::text, balance::text, collect_order::text from ahs.payment_channel order by created_at",
  );
  return rows;
}

async function ordersOf(step: string) {
  const { rows } = await usdc.db.$client.query<{ state: string }>(
    "select state from ahs.sender_transaction where reference like '%/batch-settlement/' || $1 order by id",
    [step],
  );
  return rows;
}

type Balances = Readonly<Record<"payer" | "payee" | "contract", bigint>>;

async function balances(): Promise<Balances> {
  const of = (account: Address) =>
    usdc.client.readContract({
      ...{ address: usdc.usdc, abi: usdCoinAbi, functionName: "balanceOf", args: [account] },
    });
  const [own, theirs, held] = await Promise.all([
    of(payer.address),
    of(payee.address),
    of(BATCH_SETTLEMENT_ADDRESS),
  ]);
  return { payer: own, payee: theirs, contract: held };
}

function difference(after: Balances, before: Balances): Balances {
  return {
    payer: after.payer - before.payer,
    payee: after.payee - before.payee,
    contract: after.contract - before.contract,
  };
}
