import { randomBytes, randomUUID } from "node:crypto";
import { x402Client } from "@x402/core/client";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { Hono } from "hono";
import { pino } from "pino";
import { Registry } from "prom-client";
import { type Address, type Hex, zeroAddress } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { createApiKeyAccess } from "../../../../service/access/api-key-access.ts";
import { apiKeyFinder, createApiKey, readApiKey } from "../../../../service/access/api-keys.ts";
import { readChargedUnits } from "../../../../service/access/charged-units.ts";
import { createAccess } from "../../../../service/access/create-access.ts";
import { createIdempotentAnswers, createRepeatStore } from "../../../../service/access/idempotent-answers.ts";
import { createKeyDebits, returnExpiredHolds } from "../../../../service/access/key-debits.ts";
import type {
  Facilitator,
  SettleOutcome,
  VerifyOutcome,
} from "../../../../service/access/payments/facilitator.ts";
import { createPaymentMetrics } from "../../../../service/access/payments/metrics.ts";
import { createPaymentAccess } from "../../../../service/access/payments/payment-access.ts";
import { createPaymentStore } from "../../../../service/access/payments/payments.ts";
import { listPayments, type PaymentKind } from "../../../../service/access/payments/payments-due.ts";
import { createByteBudgets } from "../../../../service/access/rate-limits.ts";
import { SCHEMES } from "../../../../service/access/schemes/schemes.ts";
import { createOwnerAccess } from "../../../../service/access/sign-in.ts";
import type { ApiEnv } from "../../../../service/api/kit/api-env.ts";
import { createRequestLimits } from "../../../../service/api/kit/deadline.ts";
import type { NeedsOf } from "../../../../service/api/kit/endpoint.ts";
import type { KitServices } from "../../../../service/api/kit/endpoint-spec.ts";
import { createErrorHandler } from "../../../../service/api/kit/handle-error.ts";
import { mountEndpoints } from "../../../../service/api/kit/mount-endpoints.ts";
import type { Services } from "../../../../service/api/services.ts";
import { postAppeal } from "../../../../service/api/verification/post-appeal.ts";
import { postOutputs } from "../../../../service/api/verification/post-outputs.ts";
import { postRetry } from "../../../../service/api/verification/post-retry.ts";
import { postSpecs } from "../../../../service/api/verification/post-specs.ts";
import type { Database } from "../../../../service/db/database.ts";
import type { Binding } from "../../../../service/verification/escrow/types.ts";
import { hashText } from "../../../../service/verification/panel/hashes.ts";
import {
  acceptOutput,
  activateOutput,
  awaitAccepted,
  findAccepted,
  withdrawOutput,
} from "../../../../service/verification/verdicts/accept-output.ts";
import {
  noteAppeal,
  offerAppeal,
  openAppeal,
  sweepAppeals,
  withdrawAppeal,
} from "../../../../service/verification/verdicts/appeals.ts";
import { retryVerdict } from "../../../../service/verification/verdicts/rerun-verdict.ts";
import { settleIntake } from "../../../../service/verification/verdicts/settle-intake.ts";
import {
  hasSpec,
  insertSpec,
  type RegisterDeps,
  readSpec,
  registerSpec,
} from "../../../../service/verification/verdicts/specs.ts";
import { isVerdictOfJob } from "../../../../service/verification/verdicts/verdict-cases.ts";
import { panelBudget } from "../../../support/panel-budget.ts";
import { databaseSpending, memoryGate } from "../../access/memory-gate.ts";
import { paid } from "../../access/payment-world.ts";
import { fakePorts } from "../fake-ports.ts";

export const CHAIN_ID = 31_337;
export const ESCROW: Address = "0x5FC8d32690cc91D4c39d9d3abcBD16989F875707";
export const CLIENT: Address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const PROVIDER: Address = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const ORIGIN = "http://verify.example";
const USDC: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const PAYEE: Address = "0x976EA74026E726554dB657fA54763abd0C3a0aa9";
const DOMAIN = { name: "USD Coin", version: "2" };
const SETTLED: Hex = `0x${"ab".repeat(32)}`;

export type Submitted = {
  readonly verdict_id: string;
  readonly status: string;
  readonly webhook_secret?: string | null;
  readonly claim?: string;
};

const ENDPOINTS = [postSpecs, postOutputs, postRetry, postAppeal];

type Outputs = Services["outputs"];

type WorldOptions = {
  readonly waitMs?: number;
  readonly settleDeadlineMs?: number;
  /** Ports in the place of the real ones, which they are made of. */
  readonly outputs?: (real: Outputs) => Partial<Outputs>;
  /** The facilitator's steps, and the key ledger's, in the place of those that succeed. */
  readonly facilitator?: (real: Facilitator) => Partial<Facilitator>;
  readonly ledger?: (real: ReturnType<typeof createKeyDebits>) => Partial<ReturnType<typeof createKeyDebits>>;
  readonly bind?: Outputs["bind"];
  /** Reads jobs from the index; by default, returns the output that was posted last. */
  readonly readDeliverable?: Outputs["readDeliverable"];
  /** Refuses signatures of specifications; by default, accepts all of them. */
  readonly refuseSignature?: RegisterDeps["refuseSignature"];
  readonly describeOverflow?: RegisterDeps["describeOverflow"];
  readonly binding?: Services["specs"]["binding"];
  readonly newestBlock?: () => Promise<bigint>;
  readonly specLimit?: Services["specs"]["limit"];
  readonly budget?: Outputs["budget"];
  readonly refuseUrl?: Services["refuseUrl"];
  /** False where no second panel is configured. */
  readonly hasAppeals?: boolean;
  /** Of a test whose failures the log explains; silent by default. */
  readonly logLevel?: "error";
};

export type IntakeWorld = ReturnType<typeof intakeWorld>;

/** A server that takes specifications and outputs in, on a real database, by real keys and payments that a facilitator of the test settles. */
export function intakeWorld(db: Database, options: WorldOptions = {}) {
  let offsetMs = 0;
  const clock = { now: () => new Date(Date.now() + offsetMs), monotonicMs: () => performance.now() };
  const logger = pino({ level: options.logLevel ?? "silent" });
  const stopping = new AbortController();
  const desk = facilitatorDesk();
  const chain = { used: false };
  const signedIn = { address: null as Address | null };
  const posted = { hash: null as Hex | null };
  const debits = createKeyDebits({ db, now: clock.now, randomUuid: randomUUID });
  const keys = createApiKeyAccess({
    keys: { find: apiKeyFinder(db), ...debits, ...options.ledger?.(debits) },
    clock,
    logger,
  });
  const store = createPaymentStore({ db, chainId: CHAIN_ID, now: clock.now, randomUuid: randomUUID });
  const payments = createPaymentAccess({
    terms: {
      chainId: CHAIN_ID,
      network: `eip155:${CHAIN_ID}`,
      asset: USDC,
      payTo: PAYEE,
      domain: async () => DOMAIN,
      schemes: SCHEMES,
      settlers: () => new Map([["exact", null]]),
      now: clock.now,
      signer: null,
    },
    origin: ORIGIN,
    facilitator: { ...desk.facilitator, ...options.facilitator?.(desk.facilitator) },
    store,
    schemes: SCHEMES,
    ledgers: new Map(),
    chain: {
      isUsed: async () => chain.used,
      findTransfer: async () => null,
      fundsOf: async () => ({ balance: 10n ** 12n, approved: 10n ** 12n }),
      finalBlock: async () => ({ number: 1n, timestamp: 0n }),
    },
    contractPayers: async () => false,
    signedInAddress: async (request) =>
      request.header("sign-in-with-x") === undefined ? null : signedIn.address,
    metrics: createPaymentMetrics(new Registry()),
    logger,
    clock,
    randomBytes,
    settleDeadlineMs: options.settleDeadlineMs ?? 300,
  });
  const gate = {
    ...memoryGate(),
    spending: databaseSpending(db, clock),
    repeats: createRepeatStore(createIdempotentAnswers({ db, now: clock.now }), logger),
    payerRatePerMinute: 6_000,
  };
  const intake = {
    db,
    logger,
    now: clock.now,
    randomBytes,
    randomUuid: randomUUID,
    waitMs: options.waitMs ?? 10_000,
  };
  const outputs: Outputs = {
    hasSpec: (id) => hasSpec(db, id),
    spec: (id) => readSpec(db, id),
    bind: options.bind ?? (async () => UNBOUND),
    measure: () => null,
    readStake: async () => null,
    readDeliverable: options.readDeliverable ?? (async () => posted.hash),
    find: (place) => findAccepted(db, place),
    awaitAccepted: (place, signal) => awaitAccepted(intake, place, signal),
    accept: (draft, purchaser) => acceptOutput(intake, draft, purchaser),
    activate: (verdictId) => activateOutput(intake, verdictId),
    withdraw: (verdictId) => withdrawOutput(intake, verdictId),
    budget: options.budget === undefined ? panelBudget() : options.budget,
  };
  const { ports } = fakePorts();
  const deps: NeedsOf<typeof ENDPOINTS> & KitServices = {
    ...ports,
    access: createAccess({ keys, payments, ...gate }),
    clock,
    specs: {
      scope: { chainId: CHAIN_ID, escrows: [ESCROW] },
      limit: options.specLimit ?? (() => null),
      addressOf: ({ forwardedFor }) => forwardedFor ?? null,
      budgets: createByteBudgets({ db, now: clock.now }),
      chargedUnits: (keyId, since) => readChargedUnits(db, { kind: "key", keyId }, since),
      binding: options.binding ?? (async () => null),
      register: (draft, now) =>
        registerSpec(
          {
            insert: (spec) => insertSpec(db, spec),
            newestBlock: options.newestBlock ?? (async () => 77n),
            refuseSignature: options.refuseSignature ?? (async () => null),
            describeOverflow: options.describeOverflow ?? (() => null),
            randomUuid: randomUUID,
          },
          draft,
          now,
        ),
    },
    keys: { ...ports.keys, enter: keys.identify },
    socketAddress: () => "192.0.2.1",
    outputs: { ...outputs, ...options.outputs?.(outputs) },
    refuseUrl: options.refuseUrl ?? (async () => null),
    owners: createOwnerAccess({
      ...gate,
      keys,
      signIn: async (request) => (request.header("sign-in-with-x") === undefined ? null : signedIn.address),
      audience: { origin: ORIGIN, chainId: CHAIN_ID },
    }),
    repeats: gate.repeats,
    policies: {
      ...ports.policies,
      ownWallets: async (owner) =>
        owner.kind === "wallet"
          ? [owner.address]
          : [(await readApiKey(db, owner.keyId))?.boughtBy ?? null].filter((wallet) => wallet !== null),
    },
    appeals: {
      terms: options.hasAppeals === false ? null : { windowSeconds: 600, model: "other" },
      offer: (request) => offerAppeal(db, request),
      note: (purchase) => noteAppeal(db, purchase),
      open: (verdictId) => openAppeal({ db, now: clock.now }, verdictId),
      withdraw: (verdictId) => withdrawAppeal({ db, now: clock.now, logger }, verdictId),
    },
    retryVerdict: (request) => retryVerdict(db, request),
    isOfJob: (verdictId) => isVerdictOfJob(db, verdictId),
    panelBudget: outputs.budget,
  };
  const app = new Hono<ApiEnv>();
  app.onError(createErrorHandler(logger));
  app.use((context, next) => {
    context.set("requestId", "request");
    context.set("headers", {});
    return next();
  });
  mountEndpoints(app, ENDPOINTS, {
    deps,
    limits: createRequestLimits({ deadlineMs: 120_000, stopping: stopping.signal, clock }),
    catalog: new Map(),
  });

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    app.request(`${ORIGIN}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const registered = async (changes: object = {}): Promise<string> => {
    const response = await post("/v1/specs", { client_addr: CLIENT, spec_text: "Count to 3.", ...changes });
    return ((await response.json()) as { spec_id: string }).spec_id;
  };
  return {
    deps,
    post,
    store,
    desk,
    chain,
    signedIn,
    debits,
    stopping,
    /** Moves the clock of everything. */
    pass: (ms: number) => {
      offsetMs += ms;
    },
    now: clock.now,
    registered,
    /** A fresh output of a fresh specification. */
    output: async (changes: object = {}) => outputBody(await registered(), changes),
    submit: (body: object, headers: Record<string, string> = {}) => {
      if ("output_text" in body && typeof body.output_text === "string")
        posted.hash = hashText(body.output_text);
      return post("/v1/outputs", body, headers);
    },
    /** Headers of a fresh key with so many units, or without a limit. */
    key: async (balanceUnits: number | null = 5_000) => {
      const wanted = { name: "k", partner: false, balanceUnits, expiresAt: null };
      const { key, secret } = await createApiKey(db, wanted, { randomBytes, randomUuid: randomUUID });
      return { id: key.id, headers: { "X-API-Key": secret } };
    },
    /** Headers of a payment, by default for an output by a fresh wallet. */
    payment: async (
      body: object,
      {
        path = "/v1/outputs",
        account = privateKeyToAccount(generatePrivateKey()),
      }: { path?: string; account?: PrivateKeyAccount } = {},
    ) => {
      const buyer = new x402Client()
        .register(`eip155:${CHAIN_ID}`, new ExactEvmScheme(account))
        .setSpendControls(false);
      const terms = (await (await post(path, body)).json()) as PaymentRequired;
      return { account, headers: paid(await buyer.createPaymentPayload(terms)) };
    },
    payments: () => listPayments(db, { kind: null, now: clock.now(), limit: 100 }),
    /** As the operator lists them. */
    listed: (kind: PaymentKind | null) => listPayments(db, { kind, now: clock.now(), limit: 100 }),
    /** Runs the workers that clean up after requests: debits, payments that were never sent to settlement, and outputs. */
    sweep: async () => {
      await returnExpiredHolds(db, clock.now());
      await sweepAppeals({ db, logger, now: clock.now });
      return settleIntake({ db, logger, now: clock.now });
    },
  };
}

const UNBOUND: Binding = { kind: "unbound", reason: "it is not" };

/** The body of an output. */
export function outputBody(specId: string, changes: object = {}) {
  return {
    spec_id: specId,
    output_text: `1, 2, 3 ${randomUUID()}`,
    submitter_addr: CLIENT,
    provider_addr: PROVIDER,
    ...changes,
  };
}

/** A specification's binding to the job with this id and provider. */
export function boundTo(jobId: bigint, provider: Address = PROVIDER): Binding {
  return {
    kind: "bound",
    by: "description",
    job: {
      chainId: CHAIN_ID,
      escrow: ESCROW,
      jobId,
      client: CLIENT,
      provider,
      evaluator: zeroAddress,
      status: "Submitted",
      expiredAt: 0n,
      budget: 0n,
      description: "",
    },
  };
}

/** The money side of everything in the database, and what it bought. */
export async function ledgerOf(db: Database) {
  const { rows } = await db.$client.query<
    Record<
      "settled" | "reserved" | "captured" | "held" | "accepted" | "unsettled" | "texts" | "endpoints",
      number
    >
  >(`
    select
      (select count(*)::int from ahs.payment where state in ('settled', 'answered')) as settled,
      (select count(*)::int from ahs.payment where state = 'reserved') as reserved,
      (select count(*)::int from ahs.key_debit where state = 'kept') as captured,
      (select count(*)::int from ahs.key_debit where state = 'held') as held,
      (select count(*)::int from ahs.verdict where status <> 'unsettled') as accepted,
      (select count(*)::int from ahs.verdict where status = 'unsettled') as unsettled,
      (select count(*)::int from ahs.output_text) as texts,
      (select count(*)::int from ahs.webhook_endpoint) as endpoints`);
  const [row] = rows;
  if (row === undefined) throw new Error("a count answers one row");
  return row;
}

/** Empties what a test leaves. */
export async function clearIntake(db: Database): Promise<void> {
  await db.$client.query(
    "truncate ahs.verdict, ahs.job_spec, ahs.payment, ahs.key_debit, ahs.webhook_endpoint, ahs.idempotent_answer cascade",
  );
}

function facilitatorDesk() {
  const answers = {
    verify: { kind: "valid" } as VerifyOutcome,
    settle: { kind: "settled", transaction: SETTLED } as SettleOutcome | "silence",
  };
  const settled: string[] = [];
  const facilitator: Facilitator = {
    verify: async () => answers.verify,
    async settle({ payer }) {
      settled.push(payer);
      return answers.settle === "silence" ? new Promise(() => undefined) : answers.settle;
    },
  };
  return { answers, settled, facilitator };
}
