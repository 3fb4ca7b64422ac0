import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from "@x402/core/http";
import type { PaymentRequired, PaymentRequirements, ResourceInfo, SettleResponse } from "@x402/core/types";
import { BAZAAR as BAZAAR_EXTENSION } from "@x402/extensions/bazaar";
import { declarePaymentIdentifierExtension, PAYMENT_IDENTIFIER } from "@x402/extensions/payment-identifier";
import { type Address, getAddress, type PublicClient, parseAbi } from "viem";
import type { PaidRequest, PresentedPayment, Priced } from "../access.ts";
import type { PaymentScheme, Settlers } from "../schemes/scheme.ts";
import type { OfferSigner } from "./offer-receipt.ts";

/** The EIP-712 domain of a token, which its authorizations are signed under. */
type TokenDomain = { readonly name: string; readonly version: string };

/** The token and recipient of this deployment's payments. */
export type PaymentTerms = {
  readonly chainId: number;
  /** CAIP-2. */
  readonly network: `eip155:${number}`;
  /** EIP-55, as is payTo. */
  readonly asset: Address;
  readonly payTo: Address;
  /** Read from the token; throws while no node answers. */
  readonly domain: () => Promise<TokenDomain>;
  /** All schemes, in the order of `accepts`. */
  readonly schemes: readonly PaymentScheme[];
  /** Those that are offered now. */
  readonly settlers: () => Settlers;
  readonly now: () => Date;
  /** Signs offers and receipts; null without a key. */
  readonly signer: OfferSigner | null;
};

/** An entry of `accepts`. */
export type Offer = { readonly scheme: PaymentScheme; readonly requirements: PaymentRequirements };

const BAZAAR = BAZAAR_EXTENSION.key;
/** 0.001 USD in the smallest unit of a dollar token with 6 decimals. */
const ATOMIC_PER_UNIT = 1_000n;
/** Seconds that a client's signature stays valid: enough for a slow answer, its settlement and clock differences. */
const MAX_TIMEOUT_SECONDS = 300;

/** A price in thousandths of a US dollar, in the token's smallest unit; throws when it is no whole number above 0. */
export function atomicPrice(units: number): bigint {
  if (!Number.isSafeInteger(units) || units <= 0)
    throw new Error(`a price in whole units above 0 was expected, got ${units}`);
  return BigInt(units) * ATOMIC_PER_UNIT;
}

/** The units of a payment's amount, rounded down. */
export function unitsOf(amount: bigint): number {
  return Number(amount / ATOMIC_PER_UNIT);
}

/** The entries of `accepts` for a price in thousandths of a US dollar. Clients take the first that they can pay. */
export async function offersOf(terms: PaymentTerms, priced: Priced): Promise<readonly Offer[]> {
  return offersUnder(await terms.domain(), terms, priced);
}

/** The same for a known domain. */
export function offersUnder(
  domain: TokenDomain,
  { schemes, settlers, now, ...terms }: Omit<PaymentTerms, "domain" | "signer">,
  priced: Priced,
): readonly Offer[] {
  const common = {
    network: terms.network,
    asset: getAddress(terms.asset),
    amount: atomicPrice(priced.units).toString(),
    payTo: getAddress(terms.payTo),
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
  };
  const offered = settlers();
  return schemes.flatMap((scheme) => {
    const settler = offered.get(scheme.name);
    const extra = settler === undefined ? null : scheme.offer({ ...priced, domain, settler, now: now() });
    return extra === null
      ? []
      : [{ scheme, requirements: { ...common, scheme: scheme.protocol, extra: { ...extra } } }];
  });
}

/** A 402 of x402 with the price and the reason of the refusal. */
export class PaymentRequiredError extends Error {
  override readonly name = "PaymentRequiredError";
  readonly terms: PaymentRequired;
  /** Report of an attempted settlement; null without one. */
  readonly settlement: SettleResponse | null;

  constructor(terms: PaymentRequired, settlement: SettleResponse | null = null) {
    super(terms.error ?? "payment required");
    this.terms = terms;
    this.settlement = settlement;
  }

  /** Response headers in lower case; the first repeats the body. */
  get headers(): Readonly<Record<string, string>> {
    return {
      "payment-required": encodePaymentRequiredHeader(this.terms),
      ...(this.settlement === null ? {} : settlementHeader(this.settlement)),
      "cache-control": "no-store",
    };
  }
}

/** The header that reports a settlement. */
export function settlementHeader(settlement: SettleResponse): Readonly<Record<string, string>> {
  return { "payment-response": encodePaymentResponseHeader(settlement) };
}

/** Price (1 USD) up to which the official clients pay without further settings. */
const UNASKED_UNITS = 1_000;
const SPEND_CONTROLS =
  "Official x402 clients pay at most 1 USD by default. Set a limit of this price for this asset with `setSpendControls`; /account shows the code.";

/** Members that the terms of one scheme have in `extra` beside the usual, for the payer of a refused payment. */
export type FurtherExtra = {
  readonly scheme: string;
  readonly members: Readonly<Record<string, unknown>> | null;
};

/** The x402 terms of a resource. `error` is the reason of the refusal. Throws while no node returns the token's domain. */
export async function describePayment(
  terms: PaymentTerms,
  resource: ReturnType<typeof resourceOf>,
  { error, extra }: { readonly error: string; readonly extra: FurtherExtra | null },
): Promise<PaymentRequired> {
  const { url, units, listing } = resource;
  const accepts = (await offersOf(terms, resource)).map(({ scheme, requirements }) =>
    scheme.name === extra?.scheme
      ? { ...requirements, extra: { ...requirements.extra, ...extra.members } }
      : requirements,
  );
  const required: PaymentRequired = {
    x402Version: 2,
    error: units > UNASKED_UNITS ? `${error} ${SPEND_CONTROLS}` : error,
    resource: resourceInfo(resource),
    accepts,
    extensions: { [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension(false) },
  };
  const optional = [
    (await terms.signer?.offers(url, accepts.slice(0, 1))) ?? {},
    listing === undefined ? {} : { [BAZAAR]: listing.bazaar },
    // Offers of the other schemes, where there is room.
    accepts.length === 1 ? {} : ((await terms.signer?.offers(url, accepts)) ?? {}),
  ];
  return optional.reduce(withExtension, required);
}

/** Bytes of JSON of a 402 and, about, of the payment in which clients send most of it back: 8 KiB as base64 in a header. */
const MOST_BYTES = 5_200;

/** Adds an extension, unless the terms become too large for a header, as those of long URLs do. */
function withExtension(
  required: PaymentRequired,
  extension: Readonly<Record<string, unknown>>,
): PaymentRequired {
  const extended = { ...required, extensions: { ...required.extensions, ...extension } };
  return Buffer.byteLength(JSON.stringify(extended)) <= MOST_BYTES ? extended : required;
}

/** The members of a payment by which a facilitator lists its resource. Queries may hold secrets, so that none is listed. */
export function listedAs({
  listing,
  ...resource
}: ReturnType<typeof resourceOf>): NonNullable<PresentedPayment["listed"]> | undefined {
  if (listing === undefined) return undefined;
  const [url = resource.url] = resource.url.split(/[?#]/, 1);
  return {
    resource: resourceInfo({ ...resource, listing, url }),
    extensions: { [BAZAAR]: listing.bazaar },
  };
}

function resourceInfo({ url, summary, listing }: ReturnType<typeof resourceOf>): ResourceInfo {
  const info = { url, description: summary, mimeType: "application/json" };
  if (listing === undefined) return info;
  return { ...info, serviceName: listing.serviceName, tags: [...listing.tags] };
}

/** The requested resource as a 402 prices it: its absolute URL under the service's public origin, and its price in units. */
export function resourceOf(
  { resource, units, isMetered, isCaptured, summary, listing }: PaidRequest,
  origin: string,
) {
  return { url: `${origin.replace(/\/+$/, "")}${resource}`, units, isMetered, isCaptured, summary, listing };
}

const TOKEN = parseAbi([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function decimals() view returns (uint8)",
]);
/** Prices are converted on this assumption. */
const DECIMALS = 6;

/**
 * Reads name and version of the token's signing domain, which differ between chains; a wrong domain fails every
 * signature. The result is cached; after a failure the next call asks again.
 */
export function createTokenDomain(client: PublicClient, address: Address) {
  let asked: Promise<TokenDomain> | null = null;
  let known: TokenDomain | null = null;
  const ask = async () => {
    try {
      known = await readDomain(client, address);
      return known;
    } catch (error) {
      asked = null;
      throw error;
    }
  };
  return {
    /** Asks the node until one call succeeds. Throws viem's errors, and an error if the token has other than 6 decimals. */
    read: () => {
      asked ??= ask();
      return asked;
    },
    /** The domain, null before the first read. */
    known: () => known,
  };
}

async function readDomain(client: PublicClient, address: Address): Promise<TokenDomain> {
  const contract = { address, abi: TOKEN } as const;
  const [name, version, decimals] = await Promise.all([
    client.readContract({ ...contract, functionName: "name" }),
    client.readContract({ ...contract, functionName: "version" }),
    client.readContract({ ...contract, functionName: "decimals" }),
  ]);
  if (decimals !== DECIMALS)
    throw new Error(`token ${address} has ${decimals} decimals; prices are made for ${DECIMALS}`);
  return { name, version };
}
