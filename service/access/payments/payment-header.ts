import type { PaymentPayload } from "@x402/core/types";
import { PAYMENT_IDENTIFIER } from "@x402/extensions/payment-identifier";
import { type Address, type Hex, isAddressEqual, type PublicClient, recoverAddress } from "viem";
import { z } from "zod";
import type { PresentedPayment } from "../access.ts";
import { Problem } from "../problems.ts";
import { chainIdOf, type PaymentScheme, type Signed } from "../schemes/scheme.ts";
import { createContractSignatures } from "../sign-in.ts";
import type { Offer } from "./payment-terms.ts";

/** Clients send the 402's extensions back, beside a signature that is long for some contract wallets. */
const MAX_HEADER_BYTES = 12_288;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** Escapes that JSON allows and PostgreSQL does not: NUL and halves of surrogate pairs. */
const UNSTORABLE = /\\u(0000|d[89a-f][0-9a-f]{2})/;

/**
 * The extension as the 402 advertises it. The package's own validator is not used: it compiles any schema that the
 * client sends.
 */
const identifierSchema = z.looseObject({
  info: z.looseObject({
    required: z.boolean(),
    id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{16,128}$/, "16 to 128 letters, digits, hyphens and underscores are expected")
      .optional(),
  }),
});

const payloadSchema = z.looseObject({
  x402Version: z.literal(2),
  resource: z.looseObject({ url: z.string() }).optional(),
  accepted: z.looseObject({
    scheme: z.string(),
    network: z.string(),
    asset: z.string(),
    amount: z.string(),
    payTo: z.string(),
    maxTimeoutSeconds: z.number(),
    extra: z.record(z.string(), z.unknown()).optional(),
  }),
  payload: z.record(z.string(), z.unknown()),
  extensions: z.looseObject({ [PAYMENT_IDENTIFIER]: identifierSchema.optional() }).optional(),
});

/** A payment as it came; `signed` is null for an unknown scheme or kind of transfer. */
export type ReadPayment = {
  readonly payload: PaymentPayload;
  readonly signed: ({ readonly scheme: PaymentScheme } & Signed) | null;
};

/** Reads a PAYMENT-SIGNATURE header. Nothing is compared yet. Throws a 400 if it is not an x402 payment of version 2. */
export function readPaymentHeader(header: string, schemes: readonly PaymentScheme[]): ReadPayment {
  if (Buffer.byteLength(header) > MAX_HEADER_BYTES) {
    throw malformed(`it is longer than ${MAX_HEADER_BYTES} bytes`);
  }
  const parsed = payloadSchema.safeParse(decode(header));
  if (!parsed.success) throw malformed(faultsOf(parsed.error));
  // The schema has checked every member of the type except the network's prefix, which is compared with ours.
  const payload = parsed.data as unknown as PaymentPayload;
  const scheme = schemes.find(
    ({ protocol, isForm }) => protocol === payload.accepted.scheme && isForm(payload.payload),
  );
  if (scheme === undefined) return { payload, signed: null };
  const signed = scheme.read(payload);
  if (signed instanceof z.ZodError) throw malformed(faultsOf(signed));
  const accepted = { ...payload.accepted, extra: payload.accepted.extra ?? {} };
  return { payload: { ...payload, accepted, payload: signed.normalised }, signed: { scheme, ...signed } };
}

function decode(header: string): unknown {
  if (!BASE64.test(header)) throw malformed("it is not base64");
  const decoded = parseJson(Buffer.from(header, "base64").toString("utf8"));
  if (UNSTORABLE.test(JSON.stringify(decoded))) throw malformed("it holds characters that are no text");
  return decoded;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformed("it is not the base64 of JSON", error);
  }
}

function faultsOf(error: z.ZodError): string {
  const faults = error.issues.slice(0, 3).map(({ path, message }) => `${path.join(".")}: ${message}`);
  return faults.join("; ").slice(0, 300);
}

function malformed(fault: string, cause?: unknown): Problem {
  const detail = `The PAYMENT-SIGNATURE header is no x402 payment of version 2: ${fault}.`;
  return new Problem("payment-malformed", detail, { cause });
}

/** Seconds that an authorization must remain valid: the facilitator's own bound for mining. */
const LEAST_SECONDS = 6n;
/** A day: a released authorization is watched on chain as long as it is valid. */
const MOST_SECONDS = 86_400n;

/** Returns the payment if it matches the price, else the reason. Signature and time are checked separately. */
export function matchPayment(
  { payload, signed }: ReadPayment,
  expected: {
    /** The entries of `accepts`, of which a payment fits one. */
    readonly accepts: readonly Offer[];
    /** Absolute URL of the requested resource. */
    readonly resourceUrl: string;
    readonly listed: PresentedPayment["listed"] | undefined;
  },
): PresentedPayment | string {
  const offer = expected.accepts.find(({ scheme }) => scheme === signed?.scheme);
  if (signed === null || offer === undefined) return unsupported(expected.accepts);
  const { scheme, requirements } = offer;
  const mismatch = mismatchOf(payload, signed, requirements);
  if (mismatch !== null) return mismatch;
  const payment: PresentedPayment = {
    scheme: scheme.name,
    taking: scheme.taking,
    payer: signed.from,
    asset: requirements.asset.toLowerCase() as PresentedPayment["asset"],
    payTo: signed.to,
    nonce: signed.nonce,
    amount: signed.value,
    validAfter: signed.validAfter,
    validBefore: signed.validBefore,
    payload: storable(payload),
    requirements,
    ...(expected.listed === undefined ? {} : { listed: expected.listed }),
  };
  const { network, extra } = requirements;
  return (
    scheme.fault?.(payment, { chainId: chainIdOf(network), extra }) ??
    elsewhere(payload.resource?.url, expected.resourceUrl) ??
    payment
  );
}

function mismatchOf(
  { accepted }: PaymentPayload,
  { token, spender, value, to }: Signed,
  requirements: Offer["requirements"],
): string | null {
  if (accepted.network !== requirements.network) {
    return `invalid_network: ${requirements.network} is expected.`;
  }
  const asset = requirements.asset.toLowerCase();
  if (accepted.asset.toLowerCase() !== asset || (token ?? asset) !== asset) {
    return `invalid_asset: ${requirements.asset} is expected.`;
  }
  if (spender !== null && spender.given !== spender.expected.toLowerCase()) {
    return `${spender.fault}: ${spender.expected} is expected, got ${spender.given}.`;
  }
  const price = BigInt(requirements.amount);
  if (accepted.amount !== requirements.amount || value !== price) {
    return `invalid_amount: exactly ${price} of the token's smallest unit is expected, got ${value}.`;
  }
  const payTo = requirements.payTo.toLowerCase();
  if (accepted.payTo.toLowerCase() !== payTo || to !== payTo) {
    return `invalid_recipient: ${requirements.payTo} is to be paid.`;
  }
  return null;
}

function unsupported(accepts: readonly Offer[]): string {
  return `unsupported_scheme: ${accepts.map(({ scheme }) => scheme.way).join(" or ")} is expected.`;
}

/** Returns why the authorization cannot be carried out at that time; null if it can. */
export function untimely(
  { validAfter, validBefore }: Pick<PresentedPayment, "validAfter" | "validBefore">,
  now: Date,
): string | null {
  const seconds = BigInt(Math.floor(now.getTime() / 1000));
  if (validBefore > seconds + MOST_SECONDS) {
    return `invalid_valid_before: at most ${MOST_SECONDS} s ahead are taken, got ${validBefore - seconds}.`;
  }
  if (validBefore < seconds + LEAST_SECONDS) {
    return `payment_expired: the authorization ends at ${validBefore} and it is ${seconds}.`;
  }
  if (validAfter >= seconds) {
    return `payment_not_yet_valid: the authorization begins after ${validAfter} and it is ${seconds}.`;
  }
  return null;
}

/**
 * Drops the query, which may hold secrets such as a webhook's address, and the extensions of the 402 that the client
 * sends back. Neither the facilitator nor the row needs them.
 */
function storable({ resource, extensions, ...payload }: PaymentPayload): PaymentPayload {
  const identifier = extensions?.[PAYMENT_IDENTIFIER];
  return {
    ...payload,
    ...(resource === undefined
      ? {}
      : { resource: { ...resource, url: resource.url.split(/[?#]/, 1)[0] ?? "" } }),
    ...(identifier === undefined ? {} : { extensions: { [PAYMENT_IDENTIFIER]: identifier } }),
  };
}

function elsewhere(signedFor: string | undefined, asked: string): string | null {
  if (signedFor === undefined) return null;
  const isSame = URL.canParse(signedFor) && new URL(signedFor).href === new URL(asked).href;
  return isSame ? null : `resource_mismatch: the payment names another resource than ${asked}.`;
}

/** Returns whether a contract wallet accepts a signature (ERC-1271). Throws if the node fails. */
export type ContractPayers = ReturnType<typeof createContractPayers>;

/** Returns whether the payer signed the payment, by its key (needs no node) or as a contract. */
export async function isSignedByPayer(
  scheme: Pick<PaymentScheme, "digest" | "isReadable">,
  { payment, signature }: { readonly payment: PresentedPayment; readonly signature: Hex },
  contracts: ContractPayers,
): Promise<boolean> {
  const hash = scheme.digest(payment, chainIdOf(payment.requirements.network));
  // A signature that no key can have made has no signer.
  const signer = await recoverAddress({ hash, signature }).catch(() => null);
  const isByKey = signer !== null && isAddressEqual(signer, payment.payer);
  if (scheme.isReadable !== undefined) return isByKey && scheme.isReadable(signature);
  return isByKey || contracts({ address: payment.payer, hash, signature });
}

/** Asks a node; an account without code accepts nothing here. */
export function createContractPayers(client: PublicClient) {
  const contractSignatures = createContractSignatures(client);
  return async (signed: {
    readonly address: Address;
    readonly hash: Hex;
    readonly signature: Hex;
  }): Promise<boolean> => {
    const code = await client.getCode({ address: signed.address });
    if (code === undefined) return false;
    // viem answers false where the node fails as well: only the contract's own answer refuses a signature.
    return (await client.verifyHash(signed)) || contractSignatures(signed);
  };
}
