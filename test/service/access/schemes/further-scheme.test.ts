import { x402Client } from "@x402/core/client";
import type { PaymentPayload } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { roleAccounts } from "../../../../devnet/accounts.ts";
import { createPaymentMetrics } from "../../../../service/access/payments/metrics.ts";
import { reconcilePayments } from "../../../../service/access/payments/run-reconciliation.ts";
import { exact } from "../../../../service/access/schemes/exact.ts";
import type { PaymentScheme } from "../../../../service/access/schemes/scheme.ts";
import { SCHEMES } from "../../../../service/access/schemes/schemes.ts";
import { aReservation } from "../../../support/a-reservation.ts";
import { CENT, carryingOut, openUsdcChain, type UsdcChain } from "../../../support/usdc-chain.ts";
import { paid, paymentWorld } from "../payment-world.ts";

const { payer, payee } = roleAccounts();
const NAME = "exact-fixed";
const LATER_MS = 120_000;

/** A scheme for the price of one cent alone, which this service settles by a call of its own. */
const exactFixed: PaymentScheme = {
  ...exact,
  name: NAME,
  protocol: NAME,
  way: "exact-fixed by EIP-3009",
  offer: (terms) => (terms.units === 10 ? exact.offer(terms) : null),
  settling: {
    order: (payment) => ({
      authorization: payment,
      call: { to: payment.asset, data: carryingOut(payment) },
    }),
  },
};
const schemes = [...SCHEMES, exactFixed];

let usdc: UsdcChain;

beforeAll(async () => {
  usdc = await openUsdcChain(schemes);
  usdc.startSender();
});
afterAll(() => usdc.close());

function open() {
  const shop = paymentWorld(usdc.db, {
    schemes,
    offered: ["exact", NAME],
    on: {
      facilitator: usdc.facilitator(),
      chain: usdc.paymentChain,
      asset: usdc.usdc,
      payTo: payee.address,
      account: payer,
    },
  });
  const signer = new ExactEvmScheme(payer);
  const client = new x402Client().setSpendControls(false).register("eip155:31337", {
    scheme: NAME,
    createPaymentPayload: (version, terms) => signer.createPaymentPayload(version, terms),
  });
  const sign = async (path: string): Promise<PaymentPayload> =>
    client.createPaymentPayload(await shop.terms(path));
  return { shop, sign };
}

it("a further scheme in the list is offered, paid, settled and confirmed", async () => {
  const before = await usdc.received();
  const { shop, sign } = open();
  const offered = async (path: string) => (await shop.terms(path)).accepts.map(({ scheme }) => scheme);
  expect([await offered("/cheap/1"), await offered("/dear/1")]).toEqual([["exact", NAME], ["exact"]]);
  const payload = await sign("/cheap/1");
  expect((await shop.request("/cheap/1", paid(payload))).status).toBe(200);
  expect((await usdc.received()) - before).toBe(CENT);
  expect(await shop.rows()).toMatchObject([{ scheme: NAME, state: "answered", amount: CENT }]);
  const repeated = await shop.request("/cheap/1", paid(payload));
  expect([repeated.status, await repeated.json()]).toMatchObject([
    402,
    { error: expect.stringContaining("payment_already_used") },
  ]);
  await usdc.chain.mine(usdc.chain.deployment.finalityBlocks, 0);
  expect(await reconcile()).toMatchObject({ confirmed: 1, lost: 0 });
});

it("a payment of it that others carry out is found on chain, and its answer is owed", async () => {
  const { store, rows, pass } = open().shop;
  const payment = { ...(await usdc.sign()), scheme: NAME };
  const id = await store.reserve({ ...aReservation(), payment });
  await store.askSettlement(id ?? "", CENT);
  await usdc.carryOut(payment);
  expect(await reconcile()).toMatchObject({ settle: 1 });
  pass(LATER_MS);
  expect((await rows())[0]).toMatchObject({ id, scheme: NAME, kind: "owed" });
});

function reconcile() {
  return reconcilePayments({
    db: usdc.db,
    chainId: 31_337,
    schemes,
    chain: usdc.paymentChain,
    ownSender: true,
    metrics: createPaymentMetrics(new Registry()),
    logger: pino({ level: "silent" }),
    now: () => new Date(Date.now() + LATER_MS),
  });
}
