import { setTimeout as sleep } from "node:timers/promises";
import { x402Facilitator } from "@x402/core/facilitator";
import { type FacilitatorClient, x402ResourceServer } from "@x402/core/server";
import type { PaymentPayload, PaymentRequirements, VerifyResponse } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { RoutingDecision } from "../../client/src/api-types.ts";
import { refusalOf, UnreachableError } from "../../client/src/errors.ts";
import { type GateCheck, type TrustGateOptions, trustGate } from "../../client/src/gate.ts";
import { fakeApp, WALLET, WALLET_EIP55 } from "../service/api/fake-ports.ts";
import { clientOf } from "./client-world.ts";

const NETWORK = "eip155:8453";
const OTHER = "0x00000000000000000000000000000000000a9e99";
const PAYEE = "0x00000000000000000000000000000000000a9e01";
const TERMS: PaymentRequirements = {
  scheme: "exact",
  network: NETWORK,
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  amount: "12500000",
  payTo: PAYEE,
  maxTimeoutSeconds: 60,
  extra: { name: "USD Coin", version: "2" },
};

type Decided = Pick<RoutingDecision, "action" | "reason" | "grade">;
const SETTLE: Decided = { action: "instant_settle", reason: "grade", grade: "B" };
const ESCROW: Decided = { action: "escrow", reason: "insufficient_history", grade: null };
const REJECT: Decided = { action: "reject", reason: "grade", grade: "F" };

type Rules = Partial<Omit<TrustGateOptions, "client" | "baseUrl" | "apiKey">>;
type Route = (address: string, query: { readonly amount_usd?: number | string }) => Promise<unknown>;

/** A gate whose service answers by `route`, with what it was asked and what it logged. */
function gateBy(route: Route, rules: Rules = {}) {
  const asked: (readonly [string, object])[] = [];
  const checks: Omit<GateCheck, "ms">[] = [];
  const gate = trustGate({
    client: {
      route: (address, query) => {
        asked.push([address, query]);
        // Tests answer what a faulty service may answer as well.
        return route(address, query) as Promise<RoutingDecision>;
      },
    },
    onUnavailable: "refuse",
    log: ({ ms, ...check }) => {
      expect(Number.isInteger(ms)).toBe(true);
      checks.push(check);
    },
    ...rules,
  });
  return { gate, asked, checks };
}

/** The official resource server with a gate, and a facilitator that verifies as it is asked to and counts settlements. */
async function seller(route: Route, rules: Rules = {}, verified: Partial<VerifyResponse> = {}) {
  const { gate, asked, checks } = gateBy(route, rules);
  let settled = 0;
  const facilitator: FacilitatorClient = {
    verify: async () => ({ isValid: true, ...verified }),
    settle: async () => {
      settled += 1;
      return { success: true, transaction: "0x01", network: NETWORK };
    },
    getSupported: async () => ({
      kinds: [{ x402Version: 2, scheme: "exact", network: NETWORK }],
      extensions: [],
      signers: {},
    }),
  };
  const server = gate.onServer(new x402ResourceServer(facilitator).register(NETWORK, new ExactEvmScheme()));
  await server.initialize();
  return {
    asked,
    checks,
    server,
    settled: () => settled,
    verify: async (payload: unknown, terms = TERMS) => {
      const { isValid, invalidReason } = await server.verifyPayment(paymentOf(payload, terms), terms);
      return isValid ? "valid" : invalidReason;
    },
  };
}

/** The hooks of a gate by themselves, for payments that the official server does not pass on. */
function hooksOf(route: Route, rules: Rules = {}) {
  const { gate, asked } = gateBy(route, rules);
  const hooks = new Map<string, (context: never) => Promise<unknown>>();
  const hook = (name: string) => (given: (context: never) => Promise<unknown>) => hooks.set(name, given);
  gate.onServer({ onAfterVerify: hook("verify"), onBeforeSettle: hook("settle") });
  return { asked, run: (name: string, context: object) => hooks.get(name)?.(context as never) };
}

function paymentOf(payload: unknown, accepted = TERMS): PaymentPayload {
  // Buyers send what they like.
  return { x402Version: 2, accepted, payload: payload as Record<string, unknown> };
}

const by = (from: unknown) => ({ signature: "0x12", authorization: { from, to: PAYEE } });
const refused = (wallet: string, { action, reason, grade }: Decided) =>
  `payer_not_trusted: The payer ${wallet} is not accepted: Agent Health answers ${action} (reason ${reason}, ${grade === null ? "no grade" : `grade ${grade}`}). Nothing is settled.`;

const refusalBy = (status: number) =>
  refusalOf({ status, body: { detail: "secret" }, requestId: null, retryAfterSeconds: null });

afterEach(() => void vi.useRealTimers());

describe("a seller's gate", () => {
  it.each([
    [SETTLE, undefined, true],
    [ESCROW, undefined, false],
    [REJECT, undefined, false],
    [SETTLE, ["instant_settle", "escrow"], true],
    [ESCROW, ["instant_settle", "escrow"], true],
    [REJECT, ["instant_settle", "escrow"], false],
    [SETTLE, ["escrow"], false],
    [ESCROW, ["escrow"], true],
  ] as const)("given %o, passing %o, allows: %s", async (decision, pass, allowed) => {
    const shop = await seller(async () => decision, pass === undefined ? {} : { pass });
    expect(await shop.verify(by(WALLET))).toBe(allowed ? "valid" : refused(WALLET, decision));
    expect(shop.checks).toEqual([
      { party: "payer", wallet: WALLET, allowed, ...decision, cached: false, error: null },
    ]);
  });

  it.each([
    ["EIP-3009", by(WALLET_EIP55), undefined, WALLET],
    ["EIP-3009, verified as it is signed", by(WALLET_EIP55), WALLET, WALLET],
    ["Permit2", { permit2Authorization: { from: WALLET } }, undefined, WALLET],
    ["a channel", { type: "voucher", channelConfig: { payer: WALLET } }, WALLET, WALLET],
    ["another scheme, as verified", { transaction: "0x12" }, WALLET_EIP55, WALLET],
    ["two payers", { ...by(WALLET), permit2Authorization: { from: OTHER } }, OTHER, "payer_ambiguous"],
    ["another payer than is verified", by(WALLET), OTHER, "payer_ambiguous"],
    ["none", { signature: "0x12" }, undefined, "payer_unknown"],
    ["an empty one", by(""), undefined, "payer_unknown"],
    ["no text", by({ toString: () => WALLET }), undefined, "payer_unknown"],
    ["no payload", null, undefined, "payer_unknown"],
    ["another kind of chain", {}, "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin", "not_an_evm_wallet"],
  ])("finds the payer of %s", async (_name, payload, payer, expected) => {
    const shop = await seller(async () => SETTLE, {}, payer === undefined ? {} : { payer });
    const isWallet = expected.startsWith("0x");
    const answer = await shop.verify(payload);
    expect(answer).toBe(
      isWallet
        ? "valid"
        : `payer_not_checked: The payer cannot be checked by Agent Health (${expected}). Nothing is settled.`,
    );
    expect(shop.asked).toEqual(isWallet ? [[expected, {}]] : []);
  });

  it("never takes a payment whose payer is unclear, even if it takes unchecked ones", async () => {
    const open = await seller(async () => SETTLE, { onUnavailable: "allow" });
    expect(await open.verify({ ...by(WALLET), permit2Authorization: { from: OTHER } })).toContain(
      "ambiguous",
    );
    expect(await open.verify({})).toContain("payer_unknown");
    const solana = await seller(
      async () => SETTLE,
      { onUnavailable: "allow" },
      { payer: "9xQeWvG816bUx9EP" },
    );
    expect(await solana.verify({})).toBe("valid");
  });

  it("asks about no payment that the facilitator finds invalid", async () => {
    const shop = await seller(
      async () => SETTLE,
      {},
      { isValid: false, invalidReason: "insufficient_funds" },
    );
    expect(await shop.verify(by(WALLET))).toBe("insufficient_funds");
    expect([shop.asked, shop.checks]).toEqual([[], []]);
  });

  it("settles what it let through without a second check", async () => {
    const shop = await seller(async () => SETTLE, { cache: { seconds: 0 } });
    const payment = paymentOf(by(WALLET));
    await shop.server.verifyPayment(payment, TERMS);
    await shop.server.settlePayment(payment, TERMS);
    expect([shop.asked.length, shop.settled()]).toEqual([1, 1]);
  });

  it("checks before a settlement that no verification precedes", async () => {
    const terms = { ...TERMS, extra: { ...TERMS.extra, paymentFlow: "upfront" } };
    const shop = await seller(async () => REJECT);
    expect(await shop.verify(by(WALLET), terms)).toBe("valid");
    const settling = shop.server.settlePayment(paymentOf(by(WALLET), terms), terms);
    await expect(settling).rejects.toMatchObject({ errorReason: refused(WALLET, REJECT) });
    expect(shop.settled()).toBe(0);
  });

  it("lets money go back to a payer that it does not trust", async () => {
    const { run, asked } = hooksOf(async () => REJECT);
    const result = { isValid: true, payer: WALLET };
    for (const [scheme, payload] of [
      ["batch-settlement", { type: "claim", claims: [] }],
      ["batch-settlement", { type: "settle", receiver: PAYEE, token: TERMS.asset }],
      ["auth-capture", { type: "capture", paymentInfo: { payer: WALLET }, amount: "1" }],
      ["auth-capture", { type: "void", paymentInfo: { payer: WALLET } }],
    ] as const) {
      const requirements = { ...TERMS, scheme };
      expect(await run("verify", { paymentPayload: { payload }, requirements, result })).toBe(undefined);
      expect(await run("settle", { paymentPayload: { payload }, requirements, phase: "settle" })).toBe(
        undefined,
      );
    }
    const cancel = { paymentPayload: { payload: by(WALLET) }, requirements: TERMS, phase: "cancel" };
    expect(await run("settle", cancel)).toBe(undefined);
    expect(asked).toEqual([]);
  });

  it.each([
    ["exact", { ...by(WALLET), type: "refund" }],
    ["auth-capture", { ...by(WALLET), type: "capture" }],
    ["auth-capture", { permit2Authorization: { from: WALLET }, type: "void" }],
    ["auth-capture", { authorization: null, type: "capture" }],
    ["batch-settlement", { type: "claim", channelConfig: { payer: WALLET } }],
    ["batch-settlement", { ...by(WALLET), type: "settle" }],
  ])("checks what a payer signed by %s, whatever type the buyer writes: %o", async (scheme, payload) => {
    const { run, asked } = hooksOf(async () => REJECT, { onUnavailable: "allow" });
    const result = { isValid: true, payer: WALLET };
    const context = { paymentPayload: { payload }, requirements: { ...TERMS, scheme }, result };
    expect(await run("verify", context)).toMatchObject({ abort: true });
    expect(asked).toEqual([[WALLET, {}]]);
  });

  it("checks the payee where it is asked to", async () => {
    const shop = await seller(async () => REJECT, { party: "payee" });
    expect(await shop.verify(by(WALLET))).toContain(`payee_not_trusted: The payee ${PAYEE} is not accepted`);
  });
});

describe("without a decision", () => {
  const failures: readonly [string, Route, Pick<GateCheck, "reason" | "error">][] = [
    [
      "the service is down",
      () => Promise.reject(new UnreachableError("GET https://x was not answered")),
      { reason: "service_unavailable", error: "UnreachableError" },
    ],
    [
      "the service answers 503",
      () => Promise.reject(refusalBy(503)),
      { reason: "service_unavailable", error: "UnavailableError 503" },
    ],
    ["a proxy answers", async () => ({}), { reason: "service_unavailable", error: "no decision" }],
    ["it answers null", async () => null, { reason: "service_unavailable", error: "TypeError" }],
  ];
  it.each(
    failures.flatMap(([name, route, logged]) => [
      [name, "refuse", route, logged] as const,
      [name, "allow", route, logged] as const,
    ]),
  )("because %s, does what the seller chose: %s", async (_name, onUnavailable, route, logged) => {
    const shop = await seller(route, { onUnavailable });
    const allowed = onUnavailable === "allow";
    expect(await shop.verify(by(WALLET))).toBe(
      allowed
        ? "valid"
        : `payer_not_checked: The payer ${WALLET} cannot be checked by Agent Health (${logged.reason}). Nothing is settled.`,
    );
    const check = {
      party: "payer",
      wallet: WALLET,
      allowed,
      action: null,
      grade: null,
      cached: false,
      ...logged,
    };
    expect(shop.checks).toEqual([check]);
  });

  it.each([
    [401, "AuthenticationError"],
    [402, "PaymentRequiredError"],
    [403, "RefusedError"],
    [429, "RateLimitError"],
  ])("because the service refuses the seller by %i, refuses every payer", async (status, name) => {
    const shop = await seller(() => Promise.reject(refusalBy(status)), { onUnavailable: "allow" });
    expect(await shop.verify(by(WALLET))).toContain("(lookup_refused)");
    expect(shop.checks).toMatchObject([
      { allowed: false, reason: "lookup_refused", error: `${name} ${status}` },
    ]);
  });

  it.each(["refuse", "allow"] as const)(
    "by the deadline, does what the seller chose: %s",
    async (onUnavailable) => {
      vi.useFakeTimers();
      const { promise, resolve } = Promise.withResolvers<Decided>();
      const shop = await seller(() => promise, { onUnavailable, deadlineMs: 500 });
      const verifying = shop.verify(by(WALLET));
      await vi.advanceTimersByTimeAsync(500);
      expect((await verifying) === "valid").toBe(onUnavailable === "allow");
      expect(shop.checks).toMatchObject([{ reason: "deadline_exceeded" }]);
      // The late answer serves the next payment.
      resolve(SETTLE);
      await vi.advanceTimersByTimeAsync(0);
      expect(await shop.verify(by(WALLET))).toBe("valid");
      expect([shop.asked.length, shop.checks[1]?.cached, vi.getTimerCount()]).toEqual([1, true, 0]);
    },
  );

  it("refuses an amount that does not fit, and one that cannot be computed", async () => {
    const world = fakeApp();
    const gate = (amountUsd: () => string) =>
      seller((address, query) => clientOf(world).client.route(address, query), {
        amountUsd,
        onUnavailable: "allow",
      });
    const malformed = await gate(() => "12,50");
    expect(await malformed.verify(by(WALLET))).toContain("(amount_invalid)");
    expect(malformed.checks).toMatchObject([{ allowed: false, error: "ValidationError 422" }]);
    const failing = await gate(() => {
      throw new RangeError("no price");
    });
    expect(await failing.verify(by(WALLET))).toContain("(check_failed)");
    expect(failing.checks).toMatchObject([{ allowed: false, error: "RangeError" }]);
  });
});

describe("decisions", () => {
  it("are cached for a wallet, refusals as well, until they expire", async () => {
    vi.useFakeTimers();
    const shop = await seller(async () => REJECT, { cache: { seconds: 60 } });
    await shop.verify(by(WALLET));
    await vi.advanceTimersByTimeAsync(59_999);
    await shop.verify(by(WALLET_EIP55));
    await vi.advanceTimersByTimeAsync(1);
    await shop.verify(by(WALLET));
    expect(shop.checks.map(({ allowed, cached }) => [allowed, cached])).toEqual([
      [false, false],
      [false, true],
      [false, false],
    ]);
  });

  it("are not cached with 0 seconds, nor without an answer", async () => {
    const off = await seller(async () => SETTLE, { cache: { seconds: 0 } });
    const down = await seller(() => Promise.reject(new UnreachableError("no")));
    for (const shop of [off, down]) {
      await shop.verify(by(WALLET));
      await shop.verify(by(WALLET));
      expect(shop.asked).toHaveLength(2);
    }
  });

  it("are bounded: the oldest leaves", async () => {
    const shop = await seller(async () => SETTLE, { cache: { maxEntries: 2 } });
    const wallets = ["a", "b", "c"].map((digit) => `0x${digit.repeat(40)}`);
    for (const wallet of wallets) await shop.verify(by(wallet));
    for (const wallet of wallets.toReversed()) await shop.verify(by(wallet));
    expect(shop.asked.map(([wallet]) => wallet[2]).join("")).toBe("abca");
  });

  it("are asked for once by concurrent payments of a wallet, and by a bounded number of wallets", async () => {
    const { promise, resolve } = Promise.withResolvers<Decided>();
    const shop = await seller(() => promise, { cache: { maxEntries: 2 } });
    const [a, b, c] = ["a", "b", "c"].map((digit) => by(`0x${digit.repeat(40)}`));
    const verifying = Promise.all([a, a, b, a, c].map((payload) => shop.verify(payload)));
    await expect.poll(() => shop.checks).toMatchObject([{ reason: "too_many_lookups" }]);
    resolve(SETTLE);
    const answers = await verifying;
    expect(answers.slice(0, 4)).toEqual(["valid", "valid", "valid", "valid"]);
    expect(shop.asked).toHaveLength(2);
  });

  it("for an amount are cached by payment: each payment is one promise", async () => {
    const amountUsd = ({ amount }: { readonly amount: string }) => Number(amount) / 1e6;
    const shop = await seller(async () => SETTLE, { amountUsd });
    await shop.verify({ ...by(WALLET), nonce: "0x01" });
    await shop.verify({ ...by(WALLET), nonce: "0x01" });
    await shop.verify({ ...by(WALLET), nonce: "0x02" });
    expect(shop.asked).toEqual([
      [WALLET, {}],
      [WALLET, { amount_usd: 12.5 }],
      [WALLET, { amount_usd: 12.5 }],
    ]);
  });

  it("have one deadline where a wallet and an amount are asked about", async () => {
    const shop = await seller(() => sleep(200, SETTLE), { amountUsd: () => 1, deadlineMs: 300 });
    expect(await shop.verify(by(WALLET))).toContain("(deadline_exceeded)");
  });
});

describe("a seller's purse", () => {
  const amountUsd = () => 0.01;
  const signedTimes = (count: number) =>
    Array.from({ length: count }, (_, nonce) => ({ ...by(WALLET), nonce: `0x${nonce.toString(16)}` }));
  const ABOVE: Decided = { action: "escrow", reason: "above_safe_amount", grade: "A" };

  it.each([
    ["rejected", async () => REJECT, ["payer_not_trusted"], 1],
    ["held", async () => ESCROW, ["payer_not_trusted"], 1],
    [
      "refused for the amount",
      async (_wallet: string, query: object) => ("amount_usd" in query ? ABOVE : SETTLE),
      ["payer_not_trusted"],
      2,
    ],
  ] as [string, Route, string[], number][])(
    "pays for no more calls where one wallet that is %s signs 100 payments",
    async (_name, route, reasons, calls) => {
      const shop = await seller(route, { amountUsd, onUnavailable: "allow" });
      const answers = new Set<string>();
      for (const payload of signedTimes(100))
        answers.add(String(await shop.verify(payload)).split(":", 1)[0] ?? "");
      expect([[...answers], shop.asked.length]).toEqual([reasons, calls]);
    },
  );

  it("asks about a bounded number of unknown wallets in a minute, and serves known ones on", async () => {
    vi.useFakeTimers({ now: 0, toFake: ["performance"] });
    const shop = await seller(async (wallet) => (wallet === WALLET ? SETTLE : REJECT), {
      amountUsd,
      lookups: { perMinute: 5 },
      onUnavailable: "allow",
    });
    expect(await shop.verify(by(WALLET))).toBe("valid");
    const strangers = Array.from({ length: 100 }, (_, index) => `0x${index.toString(16).padStart(40, "0")}`);
    for (const wallet of strangers) expect(await shop.verify(by(wallet))).toContain("payer_not_");
    expect(shop.asked).toHaveLength(6);
    expect(shop.checks.at(-1)).toMatchObject({ allowed: false, reason: "too_many_lookups", error: null });
    expect(await shop.verify({ ...by(WALLET), nonce: "0x02" })).toBe("valid");
    vi.advanceTimersByTime(60_000);
    expect(await shop.verify(by("0x00000000000000000000000000000000000a9e98"))).toContain("not_trusted");
  });

  it("asks about one wallet a bounded number of times in a minute", async () => {
    vi.useFakeTimers({ now: 0, toFake: ["performance"] });
    const shop = await seller(async () => SETTLE, {
      amountUsd,
      lookups: { perWallet: 4 },
      onUnavailable: "allow",
    });
    const answers: (string | undefined)[] = [];
    for (const payload of signedTimes(6)) answers.push(await shop.verify(payload));
    expect(answers.map((answer) => answer === "valid")).toEqual([true, true, true, false, false, false]);
    expect(shop.asked).toHaveLength(4);
  });

  it.each(["allow", "refuse"] as const)(
    "pays for a bounded number of calls without an answer, and does what the seller chose for all: %s",
    async (onUnavailable) => {
      vi.useFakeTimers({ now: 0, toFake: ["performance"] });
      const down = () => Promise.reject(new UnreachableError("no"));
      const shop = await seller(down, { onUnavailable, lookups: { perMinute: 2, perWallet: 2 } });
      const payers = [...signedTimes(6), ...["a", "b"].map((digit) => by(`0x${digit.repeat(40)}`))];
      for (const payload of payers)
        expect((await shop.verify(payload)) === "valid").toBe(onUnavailable === "allow");
      expect(shop.asked).toHaveLength(2);
      expect(shop.checks.map(({ reason }) => reason)).toEqual(payers.map(() => "service_unavailable"));
      vi.advanceTimersByTime(60_000);
      await shop.verify(by(WALLET));
      expect(shop.asked).toHaveLength(3);
    },
  );
});

describe("a facilitator's gate", () => {
  /** The official facilitator, whose scheme takes every payment and counts settlements. */
  function facilitatorWith(
    route: Route,
    rules: Rules = {},
    verified: VerifyResponse = { isValid: true, payer: WALLET },
  ) {
    const { gate, asked, checks } = gateBy(route, rules);
    let settled = 0;
    const facilitator = gate.onFacilitator(
      new x402Facilitator().register(NETWORK, {
        scheme: "exact",
        caipFamily: "eip155:*",
        getExtra: () => undefined,
        getSigners: () => [],
        verify: async () => verified,
        settle: async () => {
          settled += 1;
          return { success: true, transaction: "0x01", network: NETWORK };
        },
      }),
    );
    return { facilitator, asked, checks, settled: () => settled };
  }
  const sentence = `The payee ${PAYEE} is not accepted: Agent Health answers reject (reason grade, grade F). Nothing is settled.`;

  it("verifies and settles a payment to a payee that it trusts, with one lookup", async () => {
    const { facilitator, asked, checks, settled } = facilitatorWith(async () => SETTLE);
    expect(await facilitator.verify(paymentOf(by(WALLET)), TERMS)).toEqual({ isValid: true, payer: WALLET });
    expect(await facilitator.settle(paymentOf(by(WALLET)), TERMS)).toMatchObject({ success: true });
    expect([asked, settled()]).toEqual([[[PAYEE, {}]], 1]);
    expect(checks.map(({ party, cached }) => [party, cached])).toEqual([
      ["payee", false],
      ["payee", true],
    ]);
  });

  it("refuses a payee at the verification, and at a settlement without one", async () => {
    const { facilitator, settled } = facilitatorWith(async () => REJECT);
    expect(await facilitator.verify(paymentOf(by(WALLET)), TERMS)).toEqual({
      isValid: false,
      invalidReason: `payee_not_trusted: ${sentence}`,
      invalidMessage: sentence,
    });
    await expect(facilitator.settle(paymentOf(by(WALLET)), TERMS)).rejects.toThrow(
      `Settlement aborted: payee_not_trusted: ${sentence}`,
    );
    expect(settled()).toBe(0);
  });

  it("leaves invalid payments and other failures as they are, without a lookup", async () => {
    const invalid = { isValid: false, invalidReason: "insufficient_funds", payer: WALLET } as const;
    const { facilitator, asked } = facilitatorWith(async () => REJECT, {}, invalid);
    expect(await facilitator.verify(paymentOf(by(WALLET)), TERMS)).toEqual(invalid);
    const unknown = { ...TERMS, scheme: "upto" };
    await expect(facilitator.verify(paymentOf(by(WALLET)), unknown)).rejects.toThrow("upto");
    expect(asked).toEqual([]);
  });

  it("promises the amount of a payment once", async () => {
    const { facilitator, asked } = facilitatorWith(async () => SETTLE, { amountUsd: () => "12.50" });
    await facilitator.verify(paymentOf(by(WALLET)), TERMS);
    await facilitator.settle(paymentOf(by(WALLET)), TERMS);
    expect(asked).toEqual([
      [PAYEE, {}],
      [PAYEE, { amount_usd: "12.50" }],
    ]);
  });
});

describe("a logger", () => {
  it.each([
    () => {
      throw new Error("disk full");
    },
    async () => {
      throw new Error("disk full");
    },
  ])("that fails opens nothing and ends nothing", async (log) => {
    const shop = await seller(async () => REJECT, { log });
    expect(await shop.verify(by(WALLET))).toBe(refused(WALLET, REJECT));
  });
});

it.each([
  [{ onUnavailable: undefined }, "onUnavailable is undefined, and should be one of allow, refuse"],
  [{ party: "seller" }, "party is seller, and should be one of payer, payee"],
  [{ pass: ["reject"] }, "pass is reject, and should be one of instant_settle, escrow"],
  [{ deadlineMs: 0 }, "deadlineMs is 0, and should be an integer from 1 to 120000"],
  [{ cache: { maxEntries: 0 } }, "cache.maxEntries is 0, and should be an integer from 1 to 1000000"],
  [{ lookups: { perMinute: 0 } }, "lookups.perMinute is 0, and should be an integer from 1 to 1000000"],
  [{ lookups: { perWallet: 1.5 } }, "lookups.perWallet is 1.5, and should be an integer from 1 to 1000000"],
  [{ cache: { seconds: Number.NaN } }, "cache.seconds is NaN, and should be an integer from 0 to 86400"],
])("options %o are refused", (options, message) => {
  // As JavaScript may give them.
  const given = {
    baseUrl: "https://x.example",
    apiKey: "k",
    onUnavailable: "allow",
    ...options,
  } as TrustGateOptions;
  expect(() => trustGate(given)).toThrow(new TypeError(message));
});
