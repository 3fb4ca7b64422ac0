import { randomBytes, randomUUID } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { x402Client, x402HTTPClient } from "@x402/core/client";
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { authorizationTypes } from "@x402/evm";
import { AuthCaptureEvmScheme } from "@x402/evm/auth-capture/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { UptoEvmScheme } from "@x402/evm/upto/client";
import { Hono } from "hono";
import { pino } from "pino";
import { Registry } from "prom-client";
import { type Address, createPublicClient, custom, type Hex, type PublicClient } from "viem";
import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from "viem/accounts";
import { roleAccounts } from "../../../devnet/accounts.ts";
import type { Caller, Listing, PresentedPayment } from "../../../service/access/access.ts";
import { createApiKeyAccess } from "../../../service/access/api-key-access.ts";
import { createAccess } from "../../../service/access/create-access.ts";
import type {
  Facilitator,
  SettleOutcome,
  VerifyOutcome,
} from "../../../service/access/payments/facilitator.ts";
import { createPaymentMetrics } from "../../../service/access/payments/metrics.ts";
import type { OfferSigner } from "../../../service/access/payments/offer-receipt.ts";
import { createPaymentAccess } from "../../../service/access/payments/payment-access.ts";
import type { PaymentAccessDeps } from "../../../service/access/payments/payment-identity.ts";
import { createPaymentStore } from "../../../service/access/payments/payments.ts";
import { listPayments } from "../../../service/access/payments/payments-due.ts";
import { Problem } from "../../../service/access/problems.ts";
import { openLedgers, type PaymentScheme } from "../../../service/access/schemes/scheme.ts";
import { SCHEMES } from "../../../service/access/schemes/schemes.ts";
import type { ApiEnv } from "../../../service/api/kit/api-env.ts";
import { createRequestLimits } from "../../../service/api/kit/deadline.ts";
import { definePaid } from "../../../service/api/kit/endpoint.ts";
import { createErrorHandler } from "../../../service/api/kit/handle-error.ts";
import { mountEndpoints } from "../../../service/api/kit/mount-endpoints.ts";
import type { Database } from "../../../service/db/database.ts";
import { fakeLedger, fakePorts } from "../api/fake-ports.ts";
import { databaseSpending, memoryGate } from "./memory-gate.ts";

export const CHAIN_ID = 31_337;
export const ORIGIN = "http://shop.example";
export const USDC: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
export const PAYEE: Address = "0x976EA74026E726554dB657fA54763abd0C3a0aa9";
/** The facilitator of the local chain. */
const SETTLER = roleAccounts().facilitator.address;
export const SETTLED: Hex = `0x${"ab".repeat(32)}`;
const DOMAIN = { name: "USD Coin", version: "2" };

/** Of the cheap resource. */
export const LISTING: Listing = {
  serviceName: "Shop",
  tags: ["Things"],
  bazaar: {
    routeTemplate: "/cheap/:id",
    info: { input: { type: "http", method: "GET" } },
    schema: { type: "object" },
  },
};

export type PaymentWorld = ReturnType<typeof paymentWorld>;

type WorldOptions = {
  readonly startMs?: number;
  readonly deadlineMs?: number;
  readonly settleDeadlineMs?: number;
  /** Fires when the shop closes. */
  readonly stopping?: AbortSignal;
  /** Signs offers and receipts. */
  readonly signer?: OfferSigner;
  readonly schemes?: readonly PaymentScheme[];
  /** Names of the offered schemes, by default `exact` by EIP-3009 alone; the facilitator of the local chain settles them. */
  readonly offered?: readonly string[];
  /** By which the official client pays. */
  readonly scheme?: string;
  /** A real token, and the facilitator that settles on its chain. */
  readonly on?: Pick<PaymentAccessDeps, "facilitator" | "chain"> & {
    readonly asset: Address;
    readonly payTo: Address;
    readonly account: LocalAccount;
    /** Of schemes that read contracts of their own. */
    readonly client?: PublicClient;
  };
};

/** A shop with a cheap and a dear resource on a real store, whose facilitator, chain and clock the test moves. */
export function paymentWorld(
  db: Database,
  {
    startMs = 0,
    deadlineMs = 10_000,
    stopping = new AbortController().signal,
    on,
    settleDeadlineMs = on === undefined ? 300 : 5_000,
    signer,
    schemes = SCHEMES,
    offered = ["exact"],
    scheme = "exact",
  }: WorldOptions = {},
) {
  let offsetMs = startMs;
  const clock = { now: () => new Date(Date.now() + offsetMs), monotonicMs: () => performance.now() };
  const desk = facilitatorDesk();
  const chain = {
    used: false,
    usedInPending: false,
    usedInFinal: false,
    transfer: null as Hex | null,
    balance: 10n ** 12n,
    approved: 10n ** 12n,
  };
  /** Steps that run on the chain before it answers a read. */
  const chainSteps: { isUsed?: () => void } = {};
  const works: Works = { done: 0, callers: [], failure: null, gate: Promise.resolve() };
  const signedIn = { address: null as Address | null };
  const logger = pino({ level: "silent" });
  const keys = fakeLedger({ balanceUnits: 1 });
  const registry = new Registry();
  const store = createPaymentStore({ db, chainId: CHAIN_ID, now: clock.now, randomUuid: randomUUID });
  const client = on?.client ?? createPublicClient({ transport: custom({ request: noNode }) });
  const reads: PaymentAccessDeps["chain"] = on?.chain ?? {
    isUsed: async (_authorization, block) => {
      chainSteps.isUsed?.();
      if (block === undefined) return chain.used;
      return block === "pending" ? chain.used || chain.usedInPending : chain.usedInFinal;
    },
    findTransfer: async () => chain.transfer,
    fundsOf: async () => ({ balance: chain.balance, approved: chain.approved }),
    finalBlock: async () => ({ number: 1n, timestamp: 0n }),
  };
  const payments = createPaymentAccess({
    terms: {
      chainId: CHAIN_ID,
      network: `eip155:${CHAIN_ID}`,
      asset: on?.asset ?? USDC,
      payTo: on?.payTo ?? PAYEE,
      domain: async () => DOMAIN,
      schemes,
      settlers: () => new Map(offered.map((name) => [name, SETTLER])),
      now: clock.now,
      signer: signer ?? null,
    },
    origin: ORIGIN,
    facilitator: on?.facilitator ?? desk.facilitator,
    store,
    schemes,
    ledgers: openLedgers(schemes, { db, chainId: CHAIN_ID, client, chain: reads, clock, logger }),
    chain: reads,
    contractPayers: async () => false,
    signedInAddress: async (request) =>
      request.header("sign-in-with-x") === undefined ? null : signedIn.address,
    metrics: createPaymentMetrics(registry),
    logger,
    clock,
    randomBytes,
    settleDeadlineMs,
  });
  const access = createAccess({
    keys: createApiKeyAccess({ keys: keys.ledger, clock, logger }),
    payments,
    ...memoryGate(),
    spending: databaseSpending(db, clock),
    payerRatePerMinute: 6_000,
  });
  const app = new Hono<ApiEnv>();
  app.onError(createErrorHandler(logger));
  app.use((context, next) => {
    context.set("requestId", "request");
    context.set("headers", {});
    return next();
  });
  const endpoints = [
    sold("/cheap/{id}", 10, works),
    sold("/cheapest/{id}", 1, works),
    sold("/dear/{id}", 2000, works),
    sold("/metered/{id}", 5000, works, { metered: ({ id }) => Number(id) }),
    sold("/captured/{id}", 500, works, { payment: { settled: "captured" } }),
    sold("/secret/{id}", 2000, works, { withoutSecrets: ({ id }) => ({ id }) }),
  ];
  mountEndpoints(app, endpoints, {
    deps: { ...fakePorts().ports, access, clock },
    limits: createRequestLimits({ deadlineMs, stopping, clock }),
    catalog: new Map([["GET /cheap/{id}", LISTING]]),
  });
  const account = on?.account ?? privateKeyToAccount(generatePrivateKey());
  const buyer = buyerOf(account, scheme);
  const request = (path: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    app.request(`${ORIGIN}${path}`, { headers, ...(signal === undefined ? {} : { signal }) });
  return {
    app,
    store,
    desk,
    chain,
    chainSteps,
    works,
    signedIn,
    keys,
    registry,
    clock,
    account,
    request,
    /** Moves the clock of store and access. */
    pass: (ms: number) => {
      offsetMs += ms;
    },
    terms: async (path: string): Promise<PaymentRequired> =>
      (await (await request(path)).json()) as PaymentRequired,
    /** The payload that the official client signs for a resource. */
    sign: async (path: string): Promise<PaymentPayload> =>
      buyer.createPaymentPayload((await (await request(path)).json()) as PaymentRequired),
    signTerms: (terms: PaymentRequired): Promise<PaymentPayload> => buyer.createPaymentPayload(terms),
    /** The same payment with something of its authorization changed, and signed anew. */
    resign: async (
      payload: PaymentPayload,
      changes: Readonly<Record<string, string>>,
    ): Promise<PaymentPayload> => {
      const signed = payload.payload as { authorization: Record<string, string> };
      const authorization = { ...signed.authorization, ...changes };
      const signature = await account.signTypedData({
        domain: { ...DOMAIN, chainId: CHAIN_ID, verifyingContract: USDC },
        types: authorizationTypes,
        primaryType: "TransferWithAuthorization",
        // Decimal strings and hexadecimal, as the payload has them, are what the typed data is made of.
        message: authorization as never,
      });
      return { ...payload, payload: { signature, authorization } };
    },
    /** Another server on the same store, at the same time, that remembers no Idempotency-Key. */
    successor: () => paymentWorld(db, { startMs: offsetMs }),
    rows: () => listPayments(db, { kind: null, now: clock.now(), limit: 100 }),
  };
}

async function noNode(): Promise<never> {
  throw new Error("this world has no node");
}

/** The official client, which takes the entry of `accepts` of one scheme alone. */
function buyerOf(account: LocalAccount, scheme: string): x402Client {
  const isByPermit2 = scheme === "exact-permit2" || scheme === "upto";
  const wanted = (offer: PaymentRequirements) =>
    offer.scheme === (scheme === "exact-permit2" ? "exact" : scheme) &&
    (offer.extra.assetTransferMethod === "permit2") === isByPermit2;
  return new x402Client()
    .register(`eip155:${CHAIN_ID}`, new ExactEvmScheme(account))
    .register(`eip155:${CHAIN_ID}`, new UptoEvmScheme(account))
    .register(`eip155:${CHAIN_ID}`, new AuthCaptureEvmScheme(account))
    .registerPolicy((_version, offers) => offers.filter(wanted))
    .setSpendControls(false);
}

/** The header of a payload, by the official client. */
export function paid(payload: unknown): Record<string, string> {
  return new x402HTTPClient(new x402Client()).encodePaymentSignatureHeader(payload as PaymentPayload);
}

function facilitatorDesk() {
  const answers = {
    verify: { kind: "valid" } as VerifyOutcome,
    settle: { kind: "settled", transaction: SETTLED } as SettleOutcome | "silence",
  };
  /** Steps that run on the chain while the facilitator works. */
  const meanwhile: { verify?: () => void; settle?: () => void } = {};
  const settled: PresentedPayment[] = [];
  const facilitator: Facilitator = {
    async verify() {
      meanwhile.verify?.();
      return answers.verify;
    },
    async settle(payment) {
      settled.push(payment);
      meanwhile.settle?.();
      return answers.settle === "silence" ? new Promise(() => undefined) : answers.settle;
    },
  };
  return { answers, meanwhile, settled, facilitator };
}

type Works = { done: number; callers: Caller[]; failure: Error | null; gate: Promise<void> };

function sold(
  path: string,
  price: number,
  works: Works,
  {
    metered,
    ...terms
  }: {
    readonly metered?: (answer: { id: string }) => number;
    readonly payment?: { readonly settled: "before" | "captured" };
    readonly withoutSecrets?: (answer: { id: string }) => { id: string };
  } = {},
) {
  return definePaid<unknown>()({
    ...terms,
    method: "get",
    path,
    operationId: "get_thing",
    price: metered === undefined ? { units: price } : { from: price, upTo: price, of: () => price, metered },
    tag: "Test",
    summary: "Sells a thing",
    description: "Sells a thing.",
    request: { params: z.object({ id: z.string() }), query: z.object({}), body: null },
    answer: {
      schema: z.object({ id: z.string() }),
      description: "The thing",
    },
    problems: ["not-indexed"],
    async check({ params }) {
      if (params.id === "gone") throw new Problem("not-indexed", "There is no such thing.");
    },
    freeAnswer: ({ params }) => (params.id === "nothing" ? { id: "nothing" } : null),
    async work({ params }, _prepared, { caller }) {
      works.callers.push(caller);
      works.done += 1;
      const number = works.done;
      await works.gate;
      if (works.failure !== null) throw works.failure;
      return { id: params.id, number };
    },
  });
}
