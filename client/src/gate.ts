import { AgentHealth } from "./agent-health.ts";
import type { Grade, RoutingAction } from "./api-types.ts";
import type { AskRoute } from "./guard.ts";
import { type GatedPayment, movesHeldMoney, type PartyName, partyOf } from "./payment-party.ts";
import { createTrustLookup, type Lookup, type Question } from "./trust-lookup.ts";

/** One check, for a seller's log; it holds no secret and no signature. */
export type GateCheck = {
  readonly party: PartyName;
  /** Lower case; null where the payment names none that can be looked up. */
  readonly wallet: string | null;
  readonly allowed: boolean;
  /** Null without a decision. */
  readonly action: RoutingAction | null;
  /** The reason of the decision or of its absence, such as `deadline_exceeded` or `payer_unknown`. */
  readonly reason: string;
  readonly grade: Grade | null;
  /** Whether the decision was kept from an earlier check. */
  readonly cached: boolean;
  readonly ms: number;
  /** Class and status of a failure, such as `PaymentRequiredError 402`. */
  readonly error: string | null;
};

/** The service by address and key, or a client of your own, whose calls may be paid by x402 or go elsewhere. */
type Service =
  | { readonly baseUrl: string; readonly apiKey: string; readonly client?: undefined }
  | {
      readonly client: { readonly route: AskRoute };
      readonly baseUrl?: undefined;
      readonly apiKey?: undefined;
    };

export type TrustGateOptions = Service & {
  /**
   * While the service is down or late: take the payment unchecked, or refuse it. There is no default. An empty key, too many calls and
   * a spent budget of lookups refuse in either case, since buyers could bring them about.
   */
  readonly onUnavailable: "allow" | "refuse";
  /** Actions that let a payment through; by default `instant_settle`. Wallets without enough history are `escrow`. */
  readonly pass?: readonly Exclude<RoutingAction, "reject">[];
  /** By default the payer on a resource server, and the payee on a facilitator. */
  readonly party?: PartyName;
  /**
   * US dollars of a payment, with at most 6 decimals. Every checked payment is then a promise of that amount, which counts against
   * the wallet's safe amount for a day, and decisions are kept by payment. Without it no amount is asked about.
   */
  readonly amountUsd?: (requirements: GatedPayment["requirements"]) => number | string;
  /** Milliseconds that a check may take; by default 2,000. */
  readonly deadlineMs?: number;
  /** Decisions to keep; by default 10,000 for 60 seconds. With 0 seconds none is kept. */
  readonly cache?: { readonly maxEntries?: number; readonly seconds?: number };
  /**
   * Most wallets without a kept decision to ask about in a minute, by default 30, and most calls about one wallet, by default 10.
   * Beyond them a payment is refused, and wallets with a kept decision go on.
   */
  readonly lookups?: { readonly perMinute?: number; readonly perWallet?: number };
  /** Called with every check. */
  readonly log?: (check: GateCheck) => void;
};

/** How a hook of x402 stops a payment. HTTP adapters show buyers the reason alone, so that it has the whole sentence. */
type Abort = { readonly abort: true; readonly reason: string; readonly message: string };

type VerifiedPayment = GatedPayment & { readonly result: NonNullable<GatedPayment["result"]> };

/** The part of `x402ResourceServer` that a gate needs. */
type ResourceServer = {
  onAfterVerify(hook: (context: VerifiedPayment) => Promise<Abort | undefined>): unknown;
  onBeforeSettle(
    hook: (context: GatedPayment & { readonly phase: string }) => Promise<Abort | undefined>,
  ): unknown;
};

/** The part of `x402Facilitator` that a gate needs. */
type Facilitator = {
  onAfterVerify(hook: (context: VerifiedPayment) => Promise<void>): unknown;
  onVerifyFailure(
    hook: (context: { readonly error: Error }) => Promise<
      | {
          recovered: true;
          result: { isValid: false; invalidReason: string; invalidMessage: string };
        }
      | undefined
    >,
  ): unknown;
  onBeforeSettle(hook: (context: GatedPayment) => Promise<Abort | undefined>): unknown;
};

/** Refuses payments of x402 whose payer or payee Agent Health does not trust, before anything is settled. */
export type TrustGate = {
  /** Registers on the resource server that Hono, Express or another adapter is given, and returns it. */
  onServer<Server extends ResourceServer>(server: Server): Server;
  /** Registers on a facilitator, and returns it. */
  onFacilitator<Guarded extends Facilitator>(facilitator: Guarded): Guarded;
};

/** Throws a TypeError for options that do not fit. */
export function trustGate(options: TrustGateOptions): TrustGate {
  const check = createCheck(options);
  return {
    onServer(server) {
      const refuse = refuseOnce(check, options.party ?? "payer");
      // Verified first: a forged payment costs the seller no lookup.
      server.onAfterVerify(async (context) => (context.result.isValid ? refuse(context) : undefined));
      // Flows that settle before the handler verify nothing. A refund after a failed handler is no payment.
      server.onBeforeSettle(async (context) => (context.phase === "cancel" ? undefined : refuse(context)));
      return server;
    },
    onFacilitator(facilitator) {
      const refuse = refuseOnce(check, options.party ?? "payee");
      // A facilitator's hook can refuse a verified payment by a failure alone.
      facilitator.onAfterVerify(async (context) => {
        const abort = context.result.isValid ? await refuse(context) : undefined;
        if (abort !== undefined) throw new RefusedPayment(abort);
      });
      facilitator.onVerifyFailure(async ({ error }) => {
        if (!(error instanceof RefusedPayment)) return undefined;
        const { reason, message } = error.abort;
        return {
          recovered: true,
          result: { isValid: false, invalidReason: reason, invalidMessage: message },
        };
      });
      facilitator.onBeforeSettle(refuse);
      return facilitator;
    },
  };
}

class RefusedPayment extends Error {
  override readonly name = "RefusedPayment";
  readonly abort: Abort;

  constructor(abort: Abort) {
    super(abort.reason);
    this.abort = abort;
  }
}

type Check = (payment: GatedPayment, party: PartyName) => Promise<Abort | undefined>;

/** Checks a payment that passed no second time: its handler has run, and it is to be settled. */
function refuseOnce(check: Check, party: PartyName): (payment: GatedPayment) => Promise<Abort | undefined> {
  const passed = new WeakSet<object>();
  return async (payment) => {
    if (passed.has(payment.paymentPayload) || movesHeldMoney(payment)) return undefined;
    const abort = await check(payment, party);
    if (abort === undefined) passed.add(payment.paymentPayload);
    return abort;
  };
}

/** A check never throws: a resource server takes a payment whose hook fails. */
function createCheck(options: TrustGateOptions): Check {
  const { lookUp, pass, onUnavailable, amountUsd, log } = settingsOf(options);
  const judge = async (payment: GatedPayment, name: PartyName): Promise<Judgement> => {
    const party = partyOf(payment, name);
    if (party.kind === "foreign")
      return { ...UNCHECKED, allowed: onUnavailable === "allow", reason: "not_an_evm_wallet" };
    if (party.kind !== "wallet") return { ...UNCHECKED, reason: `${name}_${party.kind}` };
    const wallet = party.address;
    const amount = amountUsd?.(payment.requirements) ?? null;
    const paid = amount === null ? null : { id: await idOf(payment), amountUsd: amount };
    return {
      ...judgementOf(await lookUpPayment(lookUp, { wallet, payment: paid }), pass, onUnavailable),
      wallet,
    };
  };
  return async (payment, party) => {
    const startedAtMs = performance.now();
    const judged = await judge(payment, party).catch(
      (error: unknown): Judgement => ({
        ...UNCHECKED,
        reason: "check_failed",
        error: error instanceof Error ? error.name : typeof error,
      }),
    );
    report(log, { party, ...judged, ms: Math.round(performance.now() - startedAtMs) });
    return judged.allowed ? undefined : abortOf(party, judged);
  };
}

type Judgement = Omit<GateCheck, "party" | "ms">;

const UNCHECKED: Judgement = {
  wallet: null,
  allowed: false,
  action: null,
  reason: "check_failed",
  grade: null,
  cached: false,
  error: null,
};

function judgementOf(
  lookup: Lookup,
  pass: ReadonlySet<RoutingAction>,
  onUnavailable: TrustGateOptions["onUnavailable"],
): Judgement {
  switch (lookup.kind) {
    case "decided": {
      const { decision, cached } = lookup;
      return { ...UNCHECKED, ...decision, cached, allowed: pass.has(decision.action) };
    }
    case "invalid":
      return { ...UNCHECKED, reason: "amount_invalid", error: lookup.error };
    case "withheld": {
      const { reason, error } = lookup;
      return { ...UNCHECKED, reason, error };
    }
    case "unavailable": {
      const { reason, error } = lookup;
      return { ...UNCHECKED, reason, error, allowed: onUnavailable === "allow" };
    }
  }
}

/** A sentence for the buyer. */
function abortOf(party: PartyName, { wallet, action, reason, grade }: Judgement): Abort {
  const named = wallet === null ? party : `${party} ${wallet}`;
  if (action === null) {
    const message = `The ${named} cannot be checked by Agent Health (${reason}). Nothing is settled.`;
    return { abort: true, reason: `${party}_not_checked: ${message}`, message };
  }
  const graded = grade === null ? "no grade" : `grade ${grade}`;
  const message = `The ${named} is not accepted: Agent Health answers ${action} (reason ${reason}, ${graded}). Nothing is settled.`;
  return { abort: true, reason: `${party}_not_trusted: ${message}`, message };
}

/** A logger that fails decides nothing. */
function report(log: NonNullable<TrustGateOptions["log"]>, check: GateCheck): void {
  const ignore = (): void => undefined;
  try {
    // An asynchronous logger fits the type as well.
    Promise.resolve(log(check)).catch(ignore);
  } catch {
    ignore();
  }
}

/**
 * Asks about the wallet first, and about the payment only if the wallet settles at once: an amount never turns another answer into
 * that one, so that a refused wallet costs one call whatever it signs.
 */
async function lookUpPayment(
  lookUp: ReturnType<typeof settingsOf>["lookUp"],
  { wallet, payment }: Question,
): Promise<Lookup> {
  const startedAtMs = performance.now();
  const ofWallet = await lookUp({ wallet, payment: null });
  if (payment === null || ofWallet.kind !== "decided" || ofWallet.decision.action !== "instant_settle")
    return ofWallet;
  return lookUp({ wallet, payment }, performance.now() - startedAtMs);
}

/** Names one payment, so that its verification and its settlement are one promise. */
async function idOf({ paymentPayload, requirements }: GatedPayment): Promise<string> {
  const { network, asset, amount } = requirements;
  const payment = JSON.stringify([network, asset, amount, paymentPayload.payload]);
  const hash = await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(payment));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const GATE_DEFAULTS = {
  cache: { maxEntries: 10_000, seconds: 60 },
  lookups: { perMinute: 30, perWallet: 10 },
} as const;

function settingsOf(options: TrustGateOptions) {
  const {
    onUnavailable,
    pass = ["instant_settle"],
    deadlineMs = 2_000,
    cache = {},
    lookups = {},
    amountUsd,
    log,
  } = options;
  const { maxEntries, seconds } = { ...GATE_DEFAULTS.cache, ...cache };
  const { perMinute, perWallet } = { ...GATE_DEFAULTS.lookups, ...lookups };
  expectOneOf("onUnavailable", onUnavailable, ["allow", "refuse"]);
  expectOneOf("party", options.party ?? "payer", ["payer", "payee"]);
  for (const action of pass) expectOneOf("pass", action, ["instant_settle", "escrow"]);
  expectInteger("deadlineMs", deadlineMs, [1, 120_000]);
  expectInteger("cache.maxEntries", maxEntries, [1, 1_000_000]);
  expectInteger("cache.seconds", seconds, [0, 86_400]);
  expectInteger("lookups.perMinute", perMinute, [1, 1_000_000]);
  expectInteger("lookups.perWallet", perWallet, [1, 1_000_000]);
  const client =
    options.client ??
    new AgentHealth(options.apiKey, { baseUrl: options.baseUrl, timeoutMs: deadlineMs, retries: 0 });
  const limits = { maxEntries, seconds, perMinute, perWallet };
  const lookUp = createTrustLookup((address, query) => client.route(address, query), limits);
  return {
    /** Both questions of a check have one deadline. */
    lookUp: (question: Question, usedMs = 0) => lookUp(question, Math.max(0, deadlineMs - usedMs)),
    pass: new Set<RoutingAction>(pass),
    onUnavailable,
    amountUsd,
    log: log ?? (() => undefined),
  };
}

function expectOneOf(name: string, given: unknown, expected: readonly unknown[]): void {
  if (expected.includes(given)) return;
  throw new TypeError(`${name} is ${String(given)}, and should be one of ${expected.join(", ")}`);
}

function expectInteger(name: string, given: number, [least, most]: readonly [number, number]): void {
  if (Number.isInteger(given) && given >= least && given <= most) return;
  throw new TypeError(`${name} is ${given}, and should be an integer from ${least} to ${most}`);
}
