import { type KeyObject, randomBytes, randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Address, PublicClient } from "viem";
import type { Facilitator } from "../../service/access/payments/facilitator.ts";
import { createHttpFacilitator, readSettlers } from "../../service/access/payments/http-facilitator.ts";
import { createLocalFacilitator } from "../../service/access/payments/local-facilitator.ts";
import { createPaymentMetrics } from "../../service/access/payments/metrics.ts";
import { createOfferSigner } from "../../service/access/payments/offer-receipt.ts";
import { createPaymentAccess } from "../../service/access/payments/payment-access.ts";
import { createPaymentChain } from "../../service/access/payments/payment-chain.ts";
import { createContractPayers } from "../../service/access/payments/payment-header.ts";
import { createTokenDomain, offersUnder } from "../../service/access/payments/payment-terms.ts";
import { createPaymentStore } from "../../service/access/payments/payments.ts";
import { unavailable } from "../../service/access/problems.ts";
import { openLedgers, type PaymentScheme, type Settlers } from "../../service/access/schemes/scheme.ts";
import { SCHEMES } from "../../service/access/schemes/schemes.ts";
import type { SignIn } from "../../service/access/sign-in.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import { enqueueSettlement, readSettlement } from "../../service/sender/payments-sender.ts";
import { type Config, publicUrl } from "../config.ts";
import { settlementSpendingFromConfig } from "../from-config.ts";
import { openChainClient } from "../process.ts";

/** A caller is waiting. */
const PAYMENT_RPC = { timeoutMs: 5_000, retries: 1 } as const;
const RETRY_AFTER_SECONDS = 5;
const DOMAIN_RETRY_MS = 2_000;

type Parts = {
  readonly db: Database;
  readonly deployment: Deployment;
  readonly logger: Logger;
  readonly clock: { now(): Date; monotonicMs(): number };
  readonly registry: Registry;
  readonly signIn: SignIn;
  /** The key that signs receipts; null without one. */
  readonly signing: { readonly key: KeyObject; readonly kid: string } | null;
};

/** Payments as configured, or null without a payee. Throws if a required setting is missing. */
export function paymentsFromConfig(config: Config, parts: Parts) {
  const { payTo } = config.payments;
  if (payTo === null) return null;
  const { db, deployment, registry, logger, clock, signIn, signing } = parts;
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
    schemes: SCHEMES,
    settlers: settlersFromConfig(config, { chainId, logger, clock }),
    now: clock.now,
    signer:
      signing === null ? null : createOfferSigner({ ...signing, origin: publicUrl(config), now: clock.now }),
  } as const;
  const chain = createPaymentChain(client, { finalityBlocks, schemes: SCHEMES });
  const access = createPaymentAccess({
    terms,
    schemes: SCHEMES,
    ledgers: openLedgers(SCHEMES, { db, chainId, client, chain, clock, logger }),
    origin: publicUrl(config),
    facilitator: facilitatorFromConfig(config, { client, db, deployment, clock }),
    store: createPaymentStore({ db, chainId, now: clock.now, randomUuid: randomUUID }),
    chain,
    contractPayers: createContractPayers(client),
    signedInAddress: signIn,
    metrics: createPaymentMetrics(registry),
    logger,
    clock,
    randomBytes,
  });
  return {
    access,
    /** The `accepts` of the live 402; throws a 503 while the token's domain is unknown. */
    accepts(priced: Parameters<typeof offersUnder>[2]) {
      const domain = token.known();
      if (domain === null) {
        throw unavailable("payments-unavailable", "The token has not been asked for its domain yet.", {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      }
      return offersUnder(domain, terms, priced).map(({ requirements }) => requirements);
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

const LOCAL_CHAIN = 31_337;
const SUPPORTED_TIMEOUT_MS = 5_000;
const SUPPORTED_EVERY_MS = 600_000;
const SUPPORTED_RETRY_MS = 10_000;

/** The schemes that are offered: as configured, or as chain and facilitator have them. The first one always is. */
function settlersFromConfig(
  { payments }: Config,
  { chainId, logger, clock }: Pick<Parts, "logger" | "clock"> & { readonly chainId: number },
): () => Settlers {
  const { schemes, facilitatorUrl: url, facilitatorAddress, credentials } = payments;
  const [first, ...further] = SCHEMES.map(({ name }) => name);
  const always = new Map(first === undefined ? [] : [[first, facilitatorAddress]]);
  if (url === null) {
    const offered = schemes ?? (chainId === LOCAL_CHAIN ? further : []);
    const settlers = new Map([...always, ...offered.map((name) => [name, facilitatorAddress] as const)]);
    return () => settlers;
  }
  let settlers: Settlers = always;
  const ask = async (): Promise<void> => {
    const supported = await readSettlers(
      { url, credentials, now: clock.now, timeoutMs: SUPPORTED_TIMEOUT_MS },
      { network: `eip155:${chainId}`, schemes: SCHEMES },
    );
    // A configured scheme is offered if any facilitator by URL can settle it, whether or not this one lists it.
    const offered = schemes === null ? [...supported.keys()] : schemes.filter(isSettledByUrl);
    settlers = new Map([...always, ...offered.map((name) => [name, supported.get(name) ?? null] as const)]);
  };
  const again = (): void => {
    ask().then(
      () => setTimeout(again, SUPPORTED_EVERY_MS).unref(),
      (error: unknown) => {
        logger.warn({ err: error }, "the facilitator does not answer which schemes it settles: asking again");
        setTimeout(again, SUPPORTED_RETRY_MS).unref();
      },
    );
  };
  again();
  return () => settlers;
}

/** The account that settles a scheme has to send all its transactions, unless a facilitator by URL can. */
function isSettledByUrl(name: PaymentScheme["name"]): boolean {
  return SCHEMES.some((scheme) => scheme.name === name && scheme.isSettledBy !== undefined);
}

function facilitatorFromConfig(
  config: Config,
  parts: Pick<Parts, "db" | "deployment" | "clock"> & { readonly client: PublicClient },
): Facilitator {
  const { client, db, deployment, clock } = parts;
  const { chainId } = deployment;
  const { payments } = config;
  const { facilitatorUrl: url, credentials } = payments;
  if (url !== null) return createHttpFacilitator({ url, credentials, now: clock.now });
  const sender = required(payments.facilitatorAddress);
  const spending = settlementSpendingFromConfig(config, deployment, { client, db, now: clock.now });
  return createLocalFacilitator({
    sender,
    network: `eip155:${chainId}`,
    client,
    schemes: SCHEMES,
    queue: {
      enqueue: (order) => enqueueSettlement(db, { chainId, sender }, order),
      read: (id) => readSettlement(db, id),
    },
    monotonicMs: clock.monotonicMs,
    ...(spending === null ? {} : { spending }),
  });
}

function required(address: Address | null): Address {
  if (address === null) throw new Error("missing settings: X402_FACILITATOR_URL or X402_FACILITATOR_ADDRESS");
  return address;
}
