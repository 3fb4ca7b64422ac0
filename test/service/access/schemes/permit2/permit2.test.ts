import { randomUUID } from "node:crypto";
import { x402HTTPClient } from "@x402/core/client";
import type { PaymentPayload } from "@x402/core/types";
import { PERMIT2_ADDRESS, x402ExactPermit2ProxyAddress } from "@x402/evm";
import { decodePaymentResponseHeader } from "@x402/fetch";
import { pino } from "pino";
import { Registry } from "prom-client";
import { encodeFunctionData, type Hex, toHex } from "viem";
import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { permit2Abi } from "../../../../../devnet/abi/permit2.ts";
import { x402ExactPermit2ProxyAbi } from "../../../../../devnet/abi/x402-exact-permit2-proxy.ts";
import { roleAccounts } from "../../../../../devnet/accounts.ts";
import type { PresentedPayment } from "../../../../../service/access/access.ts";
import { createPaymentMetrics } from "../../../../../service/access/payments/metrics.ts";
import { createPaymentChain } from "../../../../../service/access/payments/payment-chain.ts";
import { matchPayment, readPaymentHeader } from "../../../../../service/access/payments/payment-header.ts";
import { offersUnder } from "../../../../../service/access/payments/payment-terms.ts";
import { createPaymentStore } from "../../../../../service/access/payments/payments.ts";
import { reconcilePayments } from "../../../../../service/access/payments/run-reconciliation.ts";
import { SCHEMES } from "../../../../../service/access/schemes/schemes.ts";
import { aReservation } from "../../../../support/a-reservation.ts";
import { CENT, openUsdcChain, type UsdcChain } from "../../../../support/usdc-chain.ts";
import { paid, paymentWorld } from "../../payment-world.ts";

const { payer, payee, facilitator, relayer } = roleAccounts();
const OFFERED = ["exact", "exact-permit2", "upto"];
/** Price of a metered thing, in units; the path names what its answer costs. */
const METERED_UNITS = 5_000;
const UNIT = 1_000n;
const BY_PERMIT2 = ["exact-permit2", "upto"] as const;
type Scheme = (typeof BY_PERMIT2)[number];

let usdc: UsdcChain;
let offsetMs = 0;
const now = () => new Date(Date.now() + offsetMs);

beforeAll(async () => {
  usdc = await openUsdcChain();
  await usdc.approvePermit2();
});
afterEach(async () => {
  await usdc.stopSender();
  offsetMs = 0;
});
afterAll(() => usdc.close());

function open(scheme: Scheme, account: LocalAccount = payer) {
  return paymentWorld(usdc.db, {
    on: {
      facilitator: usdc.facilitator({ settleDeadlineMs: 4_000 }),
      chain: usdc.paymentChain,
      asset: usdc.usdc,
      payTo: payee.address,
      account,
    },
    offered: OFFERED,
    scheme,
  });
}

describe("the official client pays by Permit2", () => {
  it.each([
    ["exact-permit2", "/cheap/1", CENT],
    ["exact-permit2", "/dear/1", 200n * CENT],
    ["exact-permit2", "/metered/7", BigInt(METERED_UNITS) * UNIT],
    ["upto", "/metered/7", 7n * UNIT],
    ["upto", "/metered/9000", BigInt(METERED_UNITS) * UNIT],
  ] as const)("%s for %s, and %s arrives once, whatever is repeated", async (scheme, path, price) => {
    usdc.startSender();
    const before = await usdc.received();
    const shop = open(scheme);
    const headers = { ...paid(await shop.sign(path)), "idempotency-key": `"${randomUUID()}"` };
    const first = await shop.request(path, headers);
    const body = await first.text();
    expect([first.status, body]).toEqual([200, expect.stringContaining('"number":1')]);
    expect(first.headers.get("x-charged-usd")).toBe((Number(price / UNIT) / 1000).toFixed(3));
    const report = decodePaymentResponseHeader(first.headers.get("payment-response") ?? "");
    expect(report).toMatchObject({
      success: true,
      amount: String(price),
      payer: payer.address.toLowerCase(),
    });
    const again = await shop.request(path, headers);
    expect([again.status, await again.text()]).toEqual([200, body]);
    expect(decodePaymentResponseHeader(again.headers.get("payment-response") ?? "")).toMatchObject({
      amount: String(price),
      transaction: report.transaction,
    });
    expect((await usdc.received()) - before).toBe(price);
  });

  it("and settles nothing for an answer of scheme upto that costs nothing", async () => {
    const before = await usdc.received();
    const shop = open("upto");
    const response = await shop.request("/metered/0", paid(await shop.sign("/metered/0")));
    expect([response.status, response.headers.get("x-charged-usd")]).toEqual([200, "0.000"]);
    expect([await usdc.received(), await newestRow()]).toMatchObject([before, { state: "released" }]);
  });

  it("only after it approved Permit2, and nothing is stored before", async () => {
    const stranger = privateKeyToAccount(generatePrivateKey());
    await usdc.mint(100n * CENT, stranger.address);
    const shop = open("exact-permit2", stranger);
    const response = await shop.request("/cheap/1", paid(await shop.sign("/cheap/1")));
    expect([response.status, await response.json()]).toMatchObject([
      402,
      { error: expect.stringContaining("permit2_allowance_required") },
    ]);
    expect(await rowsOf(stranger.address)).toEqual([]);
  });

  it.each(BY_PERMIT2)("%s: is refused with the signature of another account", async (scheme) => {
    const shop = open(scheme);
    const payload = await shop.sign("/metered/1");
    const signature = `0x${"11".repeat(64)}1b`;
    const response = await shop.request(
      "/metered/1",
      paid({ ...payload, payload: { ...payload.payload, signature } }),
    );
    expect([response.status, await response.json()]).toMatchObject([
      402,
      { error: expect.stringContaining("invalid_signature") },
    ]);
  });
});

describe("a server killed", () => {
  it.each(BY_PERMIT2)(
    "%s: after it noted that it would settle: the payment is free again",
    async (scheme) => {
      const { id } = await reserved(scheme);
      await store().askSettlement(id, CENT);
      expect(await afterDeadline(id)).toBe("released");
    },
  );

  it.each(BY_PERMIT2)("%s: after it queued the settlement: charged once, and owed", async (scheme) => {
    const before = await usdc.received();
    const { payment, id } = await reserved(scheme);
    await store().askSettlement(id, CENT);
    await usdc.facilitator({ settleDeadlineMs: 500 }).settle(charged(payment, CENT));
    expect(await afterDeadline(id)).toBe("reserved");
    usdc.startSender();
    await expect.poll(() => usdc.paymentChain.isUsed(payment)).toBe(true);
    expect(await afterDeadline(id)).toBe("settled");
    expect((await usdc.received()) - before).toBe(CENT);
  });

  it.each(BY_PERMIT2)("%s: after the money moved, before it said so: owed", async (scheme) => {
    usdc.startSender();
    const { payment, id } = await reserved(scheme);
    await store().askSettlement(id, CENT);
    expect((await usdc.facilitator().settle(charged(payment, CENT))).kind).toBe("settled");
    expect(await afterDeadline(id)).toBe("settled");
    expect(await newestRow()).toMatchObject({ chargedAmount: CENT });
  });

  it("of scheme upto, whose repeat costs another amount: the first amount stays", async () => {
    const { payment, id } = await reserved("upto");
    expect(await store().askSettlement(id, CENT)).toBe(CENT);
    await store().release(id, "refused");
    const again = await store().reserve(aReservation({ payment }));
    if (again === null) throw new Error("not reserved");
    expect(await store().askSettlement(again, 3n * CENT)).toBe(CENT);
  });
});

describe("an authorization by Permit2 on the chain", () => {
  it("that a third party carries out pays, and no other transfer of the payer is taken for it", async () => {
    const [payment, other] = [await present("exact-permit2"), await present("exact-permit2")];
    const hash = await usdc.send(relayer.address, x402ExactPermit2ProxyAddress, settling(payment));
    const since = new Date(Date.now() - 60_000);
    expect(await usdc.paymentChain.isUsed(payment)).toBe(true);
    expect(await usdc.paymentChain.findTransfer(payment, since)).toBe(hash);
    expect(await usdc.paymentChain.isUsed(other)).toBe(false);
    expect(await usdc.paymentChain.findTransfer(other, since)).toBeNull();
    expect(await usdc.paymentChain.findTransfer({ ...payment, amount: 1n }, since)).toBeNull();
  });

  it("is looked for in 200 transactions at most, however many transfers its payer makes", async () => {
    const payment = await present("exact-permit2");
    const asked: Hex[] = [];
    const transfers = Array.from({ length: 500 }, (_, index) => ({
      args: { value: CENT },
      transactionHash: toHex(index >> 1, { size: 32 }),
    }));
    const client = Object.assign(Object.create(usdc.client), {
      getLogs: async () => transfers,
      getTransaction: async ({ hash }: { hash: Hex }) => {
        asked.push(hash);
        return { to: null, input: "0x" };
      },
    });
    expect(
      await createPaymentChain(client, { finalityBlocks: 1, schemes: SCHEMES }).findTransfer(
        payment,
        new Date(),
      ),
    ).toBeNull();
    expect([asked.length, new Set(asked).size]).toEqual([200, 200]);
  });

  it("of scheme upto pays only if it moved what was asked", async () => {
    usdc.startSender();
    const payment = await present("upto");
    const settled = await usdc.facilitator().settle(charged(payment, 2n));
    const found = (amount: bigint) =>
      usdc.paymentChain.findTransfer({ ...payment, amount }, new Date(Date.now() - 60_000));
    expect(settled).toEqual({ kind: "settled", transaction: await found(2n) });
    expect([await found(1n), await found(3n)]).toEqual([await found(2n), null]);
  });

  it.each(BY_PERMIT2)(
    "%s: that the payer withdraws is no payment, and is released once that is final",
    async (scheme) => {
      const { payment, id } = await reserved(scheme);
      await store().askSettlement(id, CENT);
      const nonce = BigInt(payment.nonce);
      await usdc.send(
        payer.address,
        PERMIT2_ADDRESS,
        encodeFunctionData({
          abi: permit2Abi,
          functionName: "invalidateUnorderedNonces",
          args: [nonce >> 8n, 1n << (nonce & 0xffn)],
        }),
      );
      expect(await usdc.paymentChain.isUsed(payment)).toBe(true);
      expect(await afterDeadline(id)).toBe("reserved");
      await usdc.chain.mine(usdc.chain.deployment.finalityBlocks + 1, 0);
      expect(await afterDeadline(id)).toBe("released");
    },
  );

  it.each(BY_PERMIT2)(
    "%s: is refused by its form where it names another spender, token, payee or amount",
    async (scheme) => {
      const payload = await signed(scheme);
      const STRANGER = "0x00000000000000000000000000000000000000ff";
      const changes: readonly (readonly [object, string])[] = [
        [{ spender: STRANGER }, "invalid_permit2_spender"],
        [{ permitted: { token: STRANGER, amount: String(CENT) } }, "invalid_asset"],
        [{ permitted: { token: usdc.usdc, amount: "1" } }, "invalid_amount"],
        [{ witness: { to: STRANGER, facilitator: STRANGER, validAfter: "0" } }, "invalid_recipient"],
      ];
      const elsewhere = { witness: { to: payee.address, facilitator: STRANGER, validAfter: "0" } };
      const further = scheme === "upto" ? [[elsewhere, "upto_facilitator_mismatch"] as const] : [];
      for (const [change, error] of [...changes, ...further]) {
        const { permit2Authorization } = payload.payload as { permit2Authorization: object };
        const changed = { ...payload.payload, permit2Authorization: { ...permit2Authorization, ...change } };
        expect(match({ ...payload, payload: changed })).toContain(error);
      }
      const { permit2Authorization: _without, ...bare } = payload.payload;
      expect(match({ ...payload, payload: bare })).toContain("unsupported_scheme");
      expect(() => match({ ...payload, payload: { ...bare, permit2Authorization: {} } })).toThrow();
      expect(match({ ...payload, accepted: { ...payload.accepted, scheme: "batch" } })).toContain(
        "unsupported",
      );
    },
  );
});

/** The offer of a cent by a scheme. */
function offers() {
  const terms = {
    chainId: 31_337,
    network: "eip155:31337",
    asset: usdc.usdc,
    payTo: payee.address,
    schemes: SCHEMES,
    settlers: () => new Map(OFFERED.map((name) => [name, facilitator.address] as const)),
    now,
  } as const;
  return offersUnder({ name: "USD Coin", version: "2" }, terms, {
    units: 10,
    isMetered: true,
    isCaptured: false,
  });
}

/** A payload for a cent that the official client signs. */
async function signed(scheme: Scheme): Promise<PaymentPayload> {
  const accepts = offers().flatMap((offer) => (offer.scheme.name === scheme ? [offer.requirements] : []));
  return open(scheme).signTerms({
    x402Version: 2,
    accepts,
    resource: { url: "http://shop.example/cheap/1" },
  });
}

function match(payload: PaymentPayload) {
  const header =
    new x402HTTPClient({} as never).encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"] ?? "";
  const expected = { accepts: offers(), resourceUrl: "http://shop.example/cheap/1", listed: undefined };
  return matchPayment(readPaymentHeader(header, SCHEMES), expected);
}

async function present(scheme: Scheme): Promise<PresentedPayment> {
  const payment = match(await signed(scheme));
  if (typeof payment === "string") throw new Error(payment);
  return payment;
}

function charged(payment: PresentedPayment, amount: bigint): PresentedPayment {
  return { ...payment, requirements: { ...payment.requirements, amount: String(amount) } };
}

async function reserved(scheme: Scheme) {
  const payment = await present(scheme);
  const id = await store().reserve(aReservation({ payment }));
  if (id === null) throw new Error("not reserved");
  return { payment, id };
}

/** The call of the proxy that carries an authorization out. */
function settling({ payload, payTo }: PresentedPayment): Hex {
  const { signature, permit2Authorization: signedPermit } = payload.payload as {
    readonly signature: Hex;
    readonly permit2Authorization: {
      readonly from: Hex;
      readonly permitted: { readonly token: Hex; readonly amount: string };
      readonly nonce: string;
      readonly deadline: string;
    };
  };
  const { from, permitted, nonce, deadline } = signedPermit;
  return encodeFunctionData({
    abi: x402ExactPermit2ProxyAbi,
    functionName: "settle",
    args: [
      {
        permitted: { token: permitted.token, amount: BigInt(permitted.amount) },
        nonce: BigInt(nonce),
        deadline: BigInt(deadline),
      },
      from,
      { to: payTo, validAfter: 0n },
      signature,
    ],
  });
}

async function afterDeadline(id: string): Promise<string | null> {
  offsetMs += 200_000;
  await reconcilePayments({
    ...{ db: usdc.db, chainId: 31_337, chain: usdc.paymentChain, ownSender: true, now },
    schemes: SCHEMES,
    metrics: createPaymentMetrics(new Registry()),
    logger: pino({ level: "silent" }),
  });
  const { rows } = await usdc.db.$client.query("select state from ahs.payment where id = $1", [id]);
  return rows[0]?.state ?? null;
}

async function newestRow() {
  const [row] = await open("upto").rows();
  return row;
}

async function rowsOf(address: string) {
  const { rows } = await usdc.db.$client.query("select id from ahs.payment where payer = lower($1)", [
    address,
  ]);
  return rows;
}

function store() {
  return createPaymentStore({ db: usdc.db, chainId: 31_337, now, randomUuid: randomUUID });
}
