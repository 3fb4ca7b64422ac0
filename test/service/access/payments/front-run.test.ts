import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { roleAccounts } from "../../../../devnet/accounts.ts";
import type { PresentedPayment } from "../../../../service/access/access.ts";
import type { Facilitator } from "../../../../service/access/payments/facilitator.ts";
import { createPaymentMetrics } from "../../../../service/access/payments/metrics.ts";
import { reconcilePayments } from "../../../../service/access/payments/run-reconciliation.ts";
import { SCHEMES } from "../../../../service/access/schemes/schemes.ts";
import { CENT, openUsdcChain, type UsdcChain } from "../../../support/usdc-chain.ts";
import { paid, paymentWorld } from "../payment-world.ts";

/** Every way in which others can have a payment carried out or fail while its request is served, on a real token. */
let usdc: UsdcChain;

beforeAll(async () => {
  usdc = await openUsdcChain();
});
afterEach(async () => {
  usdc.setMining(true);
  await usdc.stopSender();
});
afterAll(() => usdc.close());

const CHEAP = "/cheap/1";
const { payer, payee } = roleAccounts();

type Meddling = {
  readonly step: "verify" | "settle";
  readonly act: (payment: PresentedPayment) => Promise<unknown>;
};

describe("an authorization that is carried out by others", () => {
  it.each([
    ["verify", "mined"],
    ["settle", "mined"],
    ["verify", "pending"],
    ["settle", "pending"],
  ] as const)(
    "before we %s, and is %s: is charged once, answered, and never called uncharged",
    async (step, block) => {
      usdc.startSender();
      const before = await usdc.received();
      const act = async (payment: PresentedPayment) => {
        if (block === "mined") return usdc.carryOut(payment);
        usdc.setMining(false);
        return usdc.offer(payment);
      };
      const shop = open({ step, act });
      const first = await shop.request(CHEAP, paid(await shop.sign(CHEAP)));
      const text = await first.text();
      expect(text).not.toMatch(/nothing (was|is) charged/);
      if (block === "mined") expect(first.status).toBe(200);
      else {
        const { claim } = JSON.parse(text) as { claim: string };
        expect([first.status, text]).toEqual([503, expect.stringContaining("settlement-pending")]);
        usdc.setMining(true);
        await expect
          .poll(
            async () => {
              await reconcile();
              return (await shop.request(CHEAP, { "x-payment-claim": claim })).status;
            },
            { interval: 300 },
          )
          .toBe(200);
      }
      expect([(await usdc.received()) - before, shop.works.done > 0]).toEqual([CENT, true]);
    },
  );

  it.each(["verify", "settle"] as const)(
    "elsewhere before we %s, by a withdrawal: is not charged, which is said once it is final",
    async (step) => {
      usdc.startSender();
      const before = await usdc.received();
      const shop = open({ step, act: (payment) => usdc.cancel(payment) });
      const pending = await shop.request(CHEAP, paid(await shop.sign(CHEAP)));
      expect(await pending.text()).not.toMatch(/nothing (was|is) charged/);
      expect([pending.status, await usdc.received()]).toEqual([503, before]);
      const final = open({
        step,
        async act(payment) {
          await usdc.cancel(payment);
          await usdc.chain.mine(usdc.chain.deployment.finalityBlocks + 1, 0);
        },
      });
      const refused = await final.request(CHEAP, paid(await final.sign(CHEAP)));
      expect([refused.status, await usdc.received()]).toEqual([402, before]);
    },
  );
});

describe("ten requests at once with one authorization", () => {
  it("make one answer and one charge; the others are 409 with Retry-After, or 402 once it is used", async () => {
    usdc.startSender();
    const before = await usdc.received();
    const shop = open(null);
    const header = paid(await shop.sign(CHEAP));
    const answers: Response[] = [];
    let isOver = false;
    const asking = Array.from({ length: 10 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 40));
      const wasOver = isOver;
      const response = await shop.request(CHEAP, header);
      if (response.status === 200) isOver = true;
      else if (!wasOver && !isOver) answers.push(response);
    });
    await Promise.all(asking);
    expect(isOver).toBe(true);
    expect(answers.map(({ status, headers }) => [status, headers.has("retry-after")])).toEqual(
      answers.map(() => [409, true]),
    );
    expect((await usdc.received()) - before).toBe(CENT);
  });
});

function open(meddling: Meddling | null) {
  const real = usdc.facilitator({ settleDeadlineMs: 4_000 });
  const after =
    <Outcome>(step: Meddling["step"], ask: (payment: PresentedPayment) => Promise<Outcome>) =>
    async (payment: PresentedPayment): Promise<Outcome> => {
      if (meddling?.step === step) await meddling.act(payment);
      return ask(payment);
    };
  const facilitator: Facilitator = {
    verify: after("verify", real.verify),
    settle: after("settle", real.settle),
  };
  return paymentWorld(usdc.db, {
    on: { facilitator, chain: usdc.paymentChain, asset: usdc.usdc, payTo: payee.address, account: payer },
  });
}

function reconcile() {
  return reconcilePayments({
    db: usdc.db,
    chainId: 31_337,
    schemes: SCHEMES,
    chain: usdc.paymentChain,
    ownSender: true,
    metrics: createPaymentMetrics(new Registry()),
    logger: pino({ level: "silent" }),
    now: () => new Date(Date.now() + 6_000),
  });
}
