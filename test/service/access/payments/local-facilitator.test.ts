import { text } from "node:stream/consumers";
import { type Address, createPublicClient, type Hex, http } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { PresentedPayment } from "../../../../service/access/access.ts";
import { createContractPayers, isSignedByPayer } from "../../../../service/access/payments/payment-header.ts";
import { createTokenDomain } from "../../../../service/access/payments/payment-terms.ts";
import { createSettlementSpending } from "../../../../service/access/payments/settlement-spending.ts";
import { exact } from "../../../../service/access/schemes/exact.ts";
import { createGasPrice } from "../../../../service/chain/gas-price.ts";
import { DEFAULT_DAILY_GAS } from "../../../../service/sender/send-policy.ts";
import { startLoopbackServer } from "../../../support/loopback-server.ts";
import { CENT, openUsdcChain, type UsdcChain } from "../../../support/usdc-chain.ts";
import { nodeWith, type Reply, refusal, refusalWith } from "../../chain/node/node-stand-in.ts";

const JSON_BODY = { "content-type": "application/json" };

let usdc: UsdcChain;

beforeAll(async () => {
  usdc = await openUsdcChain();
});
afterEach(() => usdc.stopSender());
afterAll(() => usdc.close());

describe("the facilitator in this process", () => {
  it("reads the token's own domain", async () => {
    const domain = createTokenDomain(usdc.client, usdc.usdc);
    expect(domain.known()).toBeNull();
    expect(await domain.read()).toEqual({ name: "USD Coin", version: "2" });
    expect(domain.known()).toEqual({ name: "USD Coin", version: "2" });
  });

  it("finds good what can be carried out, and bad what cannot", async () => {
    const good = await usdc.sign();
    expect(await usdc.facilitator().verify(good)).toEqual({ kind: "valid" });
    expect(await usdc.facilitator().verify({ ...good, payload: forged(good.payload) })).toMatchObject({
      kind: "invalid",
    });
  });

  it("says that it cannot be asked while the node does not answer", async () => {
    const gone = usdc.facilitator({ url: "http://127.0.0.1:9" });
    expect(await gone.verify(await usdc.sign())).toMatchObject({ kind: "unavailable" });
    expect(await gone.settle(await usdc.sign())).toMatchObject({ kind: "unavailable" });
  });

  it.each<[string, Reply]>([
    [
      "no healthy node behind its proxy",
      refusalWith({ status: 503 }, -32011, "no backend is currently healthy"),
    ],
    ["a limit of its host", refusal(-32012, "credits limited to 6000/sec")],
    ["a missing state", refusal(-32000, "missing trie node 12 (path )")],
    ["unknown words", refusal(-32000, "not today")],
  ])("says that it cannot be asked while the node answers with %s", async (_name, reply) => {
    const { options } = await nodeWith([reply]);
    const troubled = usdc.facilitator({ url: options.url });
    expect(await troubled.verify(await usdc.sign())).toMatchObject({ kind: "unavailable" });
    expect(await troubled.settle(await usdc.sign())).toMatchObject({ kind: "unavailable" });
  });

  it("settles through the one sender: the money arrives, and asking three times sends once", async () => {
    usdc.startSender();
    const before = await usdc.received();
    const payment = await usdc.sign();
    const outcomes = await Promise.all([1, 2, 3].map(() => usdc.facilitator().settle(payment)));
    expect(outcomes.some(({ kind }) => kind === "settled")).toBe(true);
    expect((await usdc.received()) - before).toBe(CENT);
    expect(await orders(payment)).toEqual([{ state: "mined" }]);
  });

  it("does not know while the sender is away, and sends once when that is back", async () => {
    const before = await usdc.received();
    const payment = await usdc.sign();
    expect(await usdc.facilitator({ settleDeadlineMs: 300 }).settle(payment)).toMatchObject({
      kind: "unknown",
    });
    usdc.startSender();
    expect(await usdc.facilitator().settle(payment)).toMatchObject({ kind: "settled" });
    expect((await usdc.received()) - before).toBe(CENT);
  });

  it("refuses what was withdrawn before it was sent, and sends it when asked anew after all", async () => {
    usdc.startSender();
    const payment = await usdc.sign({ value: 10n ** 15n });
    expect(await usdc.facilitator().settle(payment)).toMatchObject({ kind: "refused" });
    expect(await orders(payment)).toEqual([{ state: "failed" }]);
    await usdc.mint(10n ** 15n);
    expect(await usdc.facilitator().settle(payment)).toMatchObject({ kind: "settled" });
  });
});

describe("an order that came to nothing", () => {
  it.each([
    ["was given up", "given_up", "unavailable"],
    ["reverted in two simulations", "reverted_in_simulation", "refused"],
    ["needs too much gas", "refused", "refused"],
  ])("and %s: the settlement is %s", async (_name, failure, kind) => {
    const row = {
      state: "failed",
      final: false,
      minedHash: null,
      minedBlock: null,
      failure,
      error: "why",
      revertData: null,
    } as const;
    const queue = { enqueue: async () => 1, read: async () => row };
    expect(await usdc.facilitator({ queue }).settle(await usdc.sign())).toMatchObject({ kind });
  });
});

describe("a settlement at the fees of the moment", () => {
  it("is refused as dear while its gas costs more than twice its price, and good below", async () => {
    const spending = createSettlementSpending({
      gasPrice: createGasPrice({
        client: usdc.client,
        feed: null,
        decimals: 18,
        fallbackUsd: 3_300,
        now: () => new Date(),
      }),
      maxPercent: 200,
      dailyGas: 10n ** 10n,
      spentGas: async () => 0n,
      payerGas: async () => PAYER,
      now: () => new Date(),
    });
    const facilitator = usdc.facilitator({ spending });
    // The chain's fees are above 0.1 gwei, so that a settlement costs some cents.
    expect(await facilitator.verify(await usdc.sign({ value: 1_000n }))).toMatchObject({
      kind: "dear",
      detail: expect.stringContaining("0.001000 USD"),
      retryAfterSeconds: 60,
    });
    expect(await facilitator.verify(await usdc.sign({ value: 10_000_000n }))).toEqual({ kind: "valid" });
  });

  it("cannot be checked while the spent sum is unknown, whatever the payment", async () => {
    const spending = { refusal: () => Promise.reject(new Error("no database")) };
    expect(await usdc.facilitator({ spending }).verify(await usdc.sign())).toMatchObject({
      kind: "unavailable",
    });
  });

  it("of an authorization that the pending block uses is not called too much gas", async () => {
    const payment = await usdc.sign();
    usdc.setMining(false);
    try {
      await usdc.offer(payment);
      expect(await usdc.facilitator().verify(payment)).toEqual({
        kind: "invalid",
        reason: "invalid_exact_evm_transaction_simulation_failed",
      });
      expect([
        await usdc.paymentChain.isUsed(payment),
        await usdc.paymentChain.isUsed(payment, "pending"),
      ]).toEqual([false, true]);
    } finally {
      usdc.setMining(true);
    }
  });
});

describe("a contract wallet", () => {
  it("pays by the signature of its owner, which no other account can give", async () => {
    usdc.startSender();
    const wallet = usdc.chain.contracts.smartWallet;
    await usdc.mint(CENT, wallet);
    const before = await usdc.received();
    const payment = await usdc.sign({ from: wallet });
    const { signature } = payment.payload.payload as { signature: Hex };
    const contracts = createContractPayers(usdc.client);
    expect(await isSignedByPayer(exact, { payment, signature }, contracts)).toBe(true);
    expect(await isSignedByPayer(exact, { payment: { ...payment, amount: 1n }, signature }, contracts)).toBe(
      false,
    );
    const stranger: Address = "0x00000000000000000000000000000000000000ff";
    expect(
      await isSignedByPayer(exact, { payment: { ...payment, payer: stranger }, signature }, contracts),
    ).toBe(false);
    expect(await usdc.facilitator().verify(payment)).toEqual({ kind: "valid" });
    expect(await usdc.facilitator().settle(payment)).toMatchObject({ kind: "settled" });
    expect((await usdc.received()) - before).toBe(CENT);
  });

  it.each([503, 429])(
    "is not refused while the node answers %i to the question of its signature",
    async (status) => {
      const wallet = usdc.chain.contracts.smartWallet;
      await usdc.mint(CENT, wallet);
      const payment = await usdc.sign({ from: wallet });
      const node = await startLoopbackServer(async (request, response) => {
        const body = await text(request);
        if (body.includes("1626ba7e")) return response.writeHead(status).end("later");
        const forwarded = await fetch(usdc.chain.rpcUrl, { method: "POST", body, headers: JSON_BODY });
        return response.writeHead(200, JSON_BODY).end(await forwarded.text());
      });
      try {
        const client = createPublicClient({ transport: http(node.origin, { retryCount: 0 }) });
        const { signature } = payment.payload.payload as { signature: Hex };
        await expect(
          isSignedByPayer(exact, { payment, signature }, createContractPayers(client)),
        ).rejects.toMatchObject({
          code: "node-unavailable",
        });
        const troubled = usdc.facilitator({ url: node.origin });
        expect(await troubled.verify(payment)).toMatchObject({ kind: "unavailable" });
        expect(await troubled.settle(payment)).toMatchObject({ kind: "unavailable" });
      } finally {
        await node.close();
      }
    },
  );

  it("that burns more gas to agree than a payment is worth is refused, and never sent for", async () => {
    usdc.startSender();
    const wallet = "0x00000000000000000000000000000000bad00001";
    await usdc.client.request({ method: "anvil_setCode", params: [wallet, BURNER] } as never);
    await usdc.mint(CENT, wallet);
    const payment = await usdc.sign({ from: wallet });
    expect(await usdc.facilitator().verify(payment)).toEqual({
      kind: "invalid",
      reason: "settlement_needs_too_much_gas",
    });
    expect(await usdc.facilitator().settle(payment)).toMatchObject({ kind: "refused" });
    expect(await orders(payment)).toEqual([{ state: "failed" }]);
    expect(await usdc.paymentChain.isUsed(payment)).toBe(false);
  });

  it("that made much more gas revert than it paid for waits once a fifth of the day's gas is used, and others do not", async () => {
    const wallet = usdc.chain.contracts.smartWallet;
    await usdc.mint(CENT, wallet);
    const [reverting, other] = [await usdc.sign({ from: wallet }), await usdc.sign()];
    await usdc.db.$client.query(
      `insert into ahs.sender_transaction (chain_id, sender, reference, purpose, "to", data, value, state, final, hashes, gas_used)
       select 31337, '0x1', lower('x402:31337:' || $1 || ':' || payer || ':1'), 'x402', $1, '0x', 0, state, true, '{}', gas
       from (values ($2, 'reverted', 900000), ('0xelse', 'mined', $3::bigint)) as used (payer, state, gas)`,
      [usdc.usdc, reverting.payer, String(DEFAULT_DAILY_GAS.x402 / 5n)],
    );
    await usdc.db.$client.query("update ahs.sender_transaction set gas_limit = gas_used");
    usdc.startSender();
    const impatient = usdc.facilitator({ settleDeadlineMs: 1_000 });
    expect(await impatient.settle(reverting)).toMatchObject({ kind: "unknown" });
    expect(await orders(reverting)).toEqual([{ state: "queued" }]);
    expect(await usdc.facilitator().settle(other)).toMatchObject({ kind: "settled" });
  });
});

/** Counts down for some millions of gas, then answers the magic value of ERC-1271. */
const BURNER: Hex = `0x620200005b600190038060045763${"1626ba7e"}60e01b60005260206000f3`;

function forged(payload: PresentedPayment["payload"]): PresentedPayment["payload"] {
  return { ...payload, payload: { ...payload.payload, signature: `0x${"11".repeat(64)}1b` } };
}

async function orders({ nonce }: PresentedPayment): Promise<{ state: string }[]> {
  const { rows } = await usdc.db.$client.query<{ state: string }>(
    "select state from ahs.sender_transaction where reference like $1",
    [`%${nonce}`],
  );
  return rows;
}

/** A wallet that has paid before. */
const PAYER = { paid: 70_000n, reverted: 0n, today: 0n };
const OF = { asset: "0xaa", payer: "0xbb" } as const;

const NOON = new Date("2026-11-20T12:00:00Z");

/** Costs a millionth of a US dollar for a unit of gas. */
function spending({ spentGas = 0n, maxPercent = 200, payer = PAYER } = {}) {
  return createSettlementSpending({
    gasPrice: { microUsd: async (gas) => gas },
    maxPercent,
    dailyGas: 10_000n,
    spentGas: async () => spentGas,
    payerGas: async () => payer,
    now: () => NOON,
  });
}

describe("a settlement", () => {
  it.each([
    [2_000n, 1_000n, 200, true],
    [2_001n, 1_000n, 200, false],
    [500n, 1_000n, 50, true],
    [501n, 1_000n, 50, false],
  ])(
    "of %i micro-USD for a price of %i at %i per cent: paid for is %s",
    async (gas, priceMicroUsd, maxPercent, isPaidFor) => {
      const refusal = await spending({ maxPercent }).refusal({ gas, priceMicroUsd, payment: OF });
      expect(refusal === null).toBe(isPaidFor);
    },
  );

  it("that costs too much is refused with what it costs, and with a time to ask again", async () => {
    expect(await spending().refusal({ gas: 8_000n, priceMicroUsd: 1_000n, payment: OF })).toEqual({
      kind: "dear",
      detail: expect.stringMatching(/0\.008000 USD of gas now; at most 200% of its 0\.001000 USD.*API key/),
      retryAfterSeconds: 60,
    });
  });

  it("beyond the gas of the day waits for the next UTC day, whatever it costs", async () => {
    const most = { gas: 1_000n, priceMicroUsd: 1_000_000n, payment: OF };
    expect(await spending({ spentGas: 7_000n }).refusal(most)).toBeNull();
    expect(await spending({ spentGas: 7_001n }).refusal(most)).toMatchObject({
      kind: "dear",
      retryAfterSeconds: 43_200,
    });
  });

  it.each([
    ["a wallet that never paid", { paid: 0n, reverted: 0n, today: 0n }, 6_000n, 6_001n],
    [
      "one whose settlement reverted before it ever paid",
      { paid: 0n, reverted: 1n, today: 0n },
      1_000n,
      1_001n,
    ],
    [
      "one that made a tenth of what it paid for revert",
      { paid: 90n, reverted: 9n, today: 0n },
      7_000n,
      7_001n,
    ],
    ["one that made more revert", { paid: 90n, reverted: 10n, today: 0n }, 1_000n, 1_001n],
    ["one that has as much of the day as is left", { paid: 9n, reverted: 0n, today: 4_000n }, 3_999n, 4_000n],
  ])("of %s leaves the rest of the day's gas to others", async (_, payer, fits, spent) => {
    const asked = { gas: 1_000n, priceMicroUsd: 1_000_000n, payment: OF };
    expect(await spending({ spentGas: fits, payer }).refusal(asked)).toBeNull();
    expect(await spending({ spentGas: spent, payer }).refusal(asked)).toMatchObject({ kind: "dear" });
  });

  it.each([
    ["that brings ten times its gas", 10_000n, 9_000n],
    ["that brings less", 9_999n, 8_000n],
  ])(
    "of money that was taken before, %s, goes when strangers have used up theirs",
    async (_, priceMicroUsd, fits) => {
      const asked = { gas: 1_000n, priceMicroUsd, payment: null };
      expect(await spending({ spentGas: fits }).refusal(asked)).toBeNull();
      expect(await spending({ spentGas: fits + 1n }).refusal(asked)).toMatchObject({ kind: "dear" });
    },
  );
});
