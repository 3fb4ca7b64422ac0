import { randomBytes, randomUUID } from "node:crypto";
import { getConnInfo } from "@hono/node-server/conninfo";
import type { PaymentRequirements } from "@x402/core/types";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Address, PublicClient } from "viem";
import {
  buyApiKey,
  DEFAULT_RATE_PER_MINUTE,
  keysBoughtBy,
  readApiKey,
  readSpending,
  rotateApiKey,
  topUpApiKey,
} from "../../service/access/api-keys.ts";
import { readTrustedProxies, type TrustedProxies } from "../../service/access/client-address.ts";
import type { AccessParts, PaymentAccess } from "../../service/access/create-access.ts";
import { createIdempotentAnswers, createRepeatStore } from "../../service/access/idempotent-answers.ts";
import type { Facilitator } from "../../service/access/payments/facilitator.ts";
import { createHttpFacilitator } from "../../service/access/payments/http-facilitator.ts";
import {
  createLocalFacilitator,
  createSettlementSpending,
} from "../../service/access/payments/local-facilitator.ts";
import { createPaymentMetrics } from "../../service/access/payments/metrics.ts";
import { createPaymentAccess } from "../../service/access/payments/payment-access.ts";
import { createPaymentChain } from "../../service/access/payments/payment-chain.ts";
import { createContractPayers } from "../../service/access/payments/payment-header.ts";
import { createTokenDomain, requirementsUnder } from "../../service/access/payments/payment-terms.ts";
import { createPaymentStore } from "../../service/access/payments/payments.ts";
import { unavailable } from "../../service/access/problems.ts";
import {
  countedKeys,
  createCallLimiter,
  createIpLimit,
  createRateBuckets,
} from "../../service/access/rate-limits.ts";
import {
  createContractSignatures,
  createOwnerAccess,
  createSignIn,
  type SignIn,
  type SignInAudience,
  takeSignInNonce,
} from "../../service/access/sign-in.ts";
import type { ApiPorts } from "../../service/api/create-app.ts";
import type { ServerLife } from "../../service/api/kit/server-life.ts";
import type { PolicyPorts } from "../../service/api/routes/get-ahs-route-policy.ts";
import type { SubscriptionPorts } from "../../service/api/schemas/alert-subscription.ts";
import type { KeyPorts } from "../../service/api/schemas/key-sale.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import { type Database, underDeadline } from "../../service/db/database.ts";
import { createPolicyReader, writePolicy } from "../../service/scores/routing-policies.ts";
import { enqueueSettlement, readSettlement } from "../../service/sender/payments-sender.ts";
import { readGasSpent } from "../../service/sender/sender-transactions.ts";
import { type Config, publicUrl } from "../config.ts";
import { gasPriceFromConfig, maxGasPercent } from "../from-config.ts";
import { openChainClient } from "../process.ts";

/** Same as the default rate of a key. */
const PAYER_RATE_PER_MINUTE = 600;
/** At about 100 bytes each. The load balancer handles a flood from more networks. */
const MAX_ADDRESSES = 100_000;
/** Longer than the wait for any source. Reservations and repeats live 120 s, which leaves 20 s for settling before and after the work. */
const REQUEST_DEADLINE_MS = 45_000;

/** Parts that the services of a server share. */
export type ServerParts = {
  readonly db: Database;
  readonly deployment: Deployment;
  readonly logger: Logger;
  readonly clock: { now(): Date; monotonicMs(): number };
};

/** Limits and stored answers of authenticated callers. */
export function callGate({
  db,
  logger,
  clock,
}: Pick<ServerParts, "db" | "logger" | "clock">): Pick<
  AccessParts,
  "limiter" | "repeats" | "payerRatePerMinute"
> {
  return {
    limiter: createCallLimiter(createRateBuckets({ db, now: clock.now })),
    repeats: createRepeatStore(createIdempotentAnswers({ db, now: clock.now }), logger),
    payerRatePerMinute: PAYER_RATE_PER_MINUTE,
  };
}

/** Limits of requests by address and time. */
export function requestGate(
  config: Pick<Config, "ipRatePerMinute" | "trustedProxies">,
  clock: { monotonicMs(): number },
  life: ServerLife,
): Pick<ApiPorts, "life" | "ipLimit" | "socketAddress" | "deadlineMs"> {
  const trustedProxies = trustedProxiesOf(config);
  return {
    life,
    ipLimit: createIpLimit({
      perMinute: config.ipRatePerMinute,
      trustedProxies,
      monotonicMs: clock.monotonicMs,
      maxAddresses: MAX_ADDRESSES,
    }),
    socketAddress: (context) => getConnInfo(context).remote.address ?? null,
    deadlineMs: REQUEST_DEADLINE_MS,
  };
}

/** The trusted proxies of the configuration; throws if it is no list of addresses. */
export function trustedProxiesOf({ trustedProxies }: Pick<Config, "trustedProxies">): TrustedProxies {
  const proxies = readTrustedProxies(trustedProxies);
  if (proxies === null) throw new Error(`expected a list of addresses, got ${trustedProxies.join(",")}`);
  return proxies;
}

/** Keys that an error names at most. */
const MAX_NAMED_KEYS = 20;

/** Sells keys, and reads and writes routing policies for their owners. */
export function keyPorts({
  db,
  keyAccess,
  gate,
  signIn,
  audience,
}: Pick<ServerParts, "db"> & {
  readonly keyAccess: AccessParts["keys"];
  readonly gate: ReturnType<typeof callGate>;
  readonly signIn: SignIn;
  readonly audience: SignInAudience;
}): KeyPorts & PolicyPorts & Pick<SubscriptionPorts, "repeats"> {
  const entropy = { randomBytes };
  return {
    owners: createOwnerAccess({ ...gate, keys: keyAccess, signIn, audience }),
    repeats: gate.repeats,
    keys: {
      identify: keyAccess.identify,
      enter: countedKeys(keyAccess, gate.limiter).identify,
      buy: (purchase) => buyApiKey(db, { ...purchase, ratePerMinute: DEFAULT_RATE_PER_MINUTE }, entropy),
      topUp: (topUp) => topUpApiKey(db, topUp),
      rotate: (right, now) => rotateApiKey(db, { right, now }, entropy),
      find: (id) => readApiKey(db, id),
      boughtBy: (wallet, now) => keysBoughtBy(db, { wallet, now, limit: MAX_NAMED_KEYS }),
      spending: (keyId, since) => readSpending(db, keyId, since),
    },
    policies: {
      of: createPolicyReader(db),
      write: (write) => writePolicy(db, write),
      async ownWallets(owner): Promise<readonly Address[]> {
        if (owner.kind === "wallet") return [owner.address];
        const key = await readApiKey(db, owner.keyId);
        return key === null || key.boughtBy === null ? [] : [key.boughtBy];
      },
    },
  };
}

/** A caller is waiting. */
const SIGN_IN_RPC = { timeoutMs: 3_000, retries: 0 } as const;

/** The origin (public, else local) and the chain that a sign-in must name. */
export function signInAudience(config: Config, chainId: number): SignInAudience {
  return { origin: new URL(publicUrl(config)).origin, chainId };
}

/** Sign-in by SIGN-IN-WITH-X; contract wallets can where a node is configured. */
export function signInFromConfig(
  config: Config,
  { db, chainId, clock }: { db: Database; chainId: number; clock: { now(): Date } },
): SignIn {
  return createSignIn({
    ...signInAudience(config, chainId),
    clock,
    takeNonce: (use) => takeSignInNonce(db, use),
    contractSignatures:
      config.rpcUrl === null ? null : createContractSignatures(openChainClient(config.rpcUrl, SIGN_IN_RPC)),
  });
}

type ServedPayments = {
  readonly access: PaymentAccess;
  /** The `accepts` of the live 402 for a price in thousandths of a US dollar; throws a 503 while the token's domain is unknown. */
  readonly accepts: (units: number) => readonly PaymentRequirements[];
};

/** A caller is waiting. */
const PAYMENT_RPC = { timeoutMs: 5_000, retries: 1 } as const;
const RETRY_AFTER_SECONDS = 5;
const DOMAIN_RETRY_MS = 2_000;

/** Payments as configured, or null without a payee. Throws if a required setting is missing. */
export function paymentsFromConfig(
  config: Config,
  parts: ServerParts & { readonly registry: Registry; readonly signIn: SignIn },
): ServedPayments | null {
  const { payTo } = config.payments;
  if (payTo === null) return null;
  const { db, deployment, registry, logger, clock, signIn } = parts;
  const { chainId, usdc, finalityBlocks } = deployment;
  if (usdc === null) throw new Error("X402_PAY_TO: the deployment names no USDC to be paid in");
  if (config.rpcUrl === null) throw new Error("missing settings: RPC_URL, which X402_PAY_TO needs");
  const client = openChainClient(config.rpcUrl, PAYMENT_RPC);
  const token = createTokenDomain(client, usdc);
  readEarly(token.read, logger);
  const terms = {
    chainId,
    network: `eip155:${chainId}`,
    asset: usdc,
    payTo,
    domain: token.read,
  } as const;
  const access = createPaymentAccess({
    terms,
    origin: publicUrl(config),
    facilitator: facilitatorFromConfig(config, { client, db, deployment, clock }),
    store: createPaymentStore({ db, chainId, now: clock.now, randomUuid: randomUUID }),
    chain: createPaymentChain(client, finalityBlocks),
    contractPayers: createContractPayers(client),
    signedInAddress: signIn,
    metrics: createPaymentMetrics(registry),
    logger,
    clock,
    randomBytes,
  });
  return {
    access,
    accepts(units) {
      const domain = token.known();
      if (domain === null) {
        throw unavailable("payments-unavailable", "The token has not been asked for its domain yet.", {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      }
      return [requirementsUnder(domain, terms, units)];
    },
  };
}

/** So that the first caller need not wait; a node that does not answer yet is asked again. */
function readEarly(read: () => Promise<unknown>, logger: Logger): void {
  read().catch((error: unknown) => {
    logger.warn({ err: error }, "the token's signing domain is not known yet: asking again");
    setTimeout(() => readEarly(read, logger), DOMAIN_RETRY_MS).unref();
  });
}

function facilitatorFromConfig(
  config: Config,
  parts: Pick<ServerParts, "db" | "deployment" | "clock"> & { readonly client: PublicClient },
): Facilitator {
  const { client, db, deployment, clock } = parts;
  const { chainId } = deployment;
  const { payments, spending } = config;
  if (payments.facilitatorUrl !== null) return createHttpFacilitator({ url: payments.facilitatorUrl });
  const sender = required(payments.facilitatorAddress);
  const maxPercent = maxGasPercent(config, deployment, "x402");
  return createLocalFacilitator({
    sender,
    network: `eip155:${chainId}`,
    client,
    queue: {
      enqueue: (order) => enqueueSettlement(db, { chainId, sender }, order),
      read: (id) => readSettlement(db, id),
    },
    monotonicMs: clock.monotonicMs,
    ...(maxPercent === null
      ? {}
      : {
          spending: createSettlementSpending({
            gasPrice: gasPriceFromConfig(config, deployment, client, clock.now),
            maxPercent,
            dailyGas: spending.dailyGas.x402,
            spentGas: () =>
              readGasSpent(underDeadline(db), { chainId, purposes: ["x402"], now: clock.now() }),
            now: clock.now,
          }),
        }),
  });
}

function required(address: Address | null): Address {
  if (address === null) throw new Error("missing settings: X402_FACILITATOR_URL or X402_FACILITATOR_ADDRESS");
  return address;
}
