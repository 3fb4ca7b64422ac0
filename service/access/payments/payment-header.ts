import type { PaymentPayload } from "@x402/core/types";
import { authorizationTypes } from "@x402/evm";
import { PAYMENT_IDENTIFIER } from "@x402/extensions/payment-identifier";
import {
  type Address,
  getAddress,
  type Hex,
  hashTypedData,
  isAddressEqual,
  type PublicClient,
  recoverAddress,
} from "viem";
import { z } from "zod";
import type { PaymentScheme } from "../../db/tables/payment.ts";
import type { PresentedPayment } from "../access.ts";
import { Problem } from "../problems.ts";
import { CAPTURE_COLLECTOR, captureFault } from "../schemes/auth-capture/auth-capture.ts";
import {
  channelFault,
  isContractSignature,
  readVoucher,
  voucherDigest,
} from "../schemes/batch-settlement/batch-settlement.ts";
import { addressText, signatureText, uint256Text } from "../schemes/header-values.ts";
import { PERMIT2_SPENDERS, permitDigest, readPermit2 } from "../schemes/permit2/permit2-header.ts";
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

const eip3009Schema = z.looseObject({
  signature: signatureText,
  authorization: z.looseObject({
    from: addressText,
    to: addressText,
    value: uint256Text,
    validAfter: uint256Text,
    validBefore: uint256Text,
    nonce: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/)
      .transform((value) => value.toLowerCase() as Hex),
  }),
});

const saltSchema = z.looseObject({ salt: z.string().regex(/^0x[0-9a-fA-F]{1,64}$/) });

/**
 * Reads a PAYMENT-SIGNATURE header; the authorization is null for an unknown scheme or kind of transfer. Nothing is compared yet. Throws
 * a 400 if it is not an x402 payment of version 2.
 */
export function readPaymentHeader(header: string) {
  if (Buffer.byteLength(header) > MAX_HEADER_BYTES) {
    throw malformed(`it is longer than ${MAX_HEADER_BYTES} bytes`);
  }
  const parsed = payloadSchema.safeParse(decode(header));
  if (!parsed.success) throw malformed(faultsOf(parsed.error));
  // The schema has checked every member of the type except the network's prefix, which is compared with ours.
  const payload = parsed.data as unknown as PaymentPayload;
  const scheme = schemeOf(payload);
  if (scheme === null) return { payload, authorization: null, signature: "0x" } as const;
  const read = readSigned(scheme, payload);
  if (read.error !== null) throw malformed(faultsOf(read.error));
  const { authorization, signature, normalised } = read;
  const accepted = { ...payload.accepted, extra: payload.accepted.extra ?? {} };
  return { payload: { ...payload, accepted, payload: normalised }, authorization, signature };
}

function readSigned(scheme: PaymentScheme, { payload, accepted }: PaymentPayload) {
  switch (scheme) {
    case "exact":
      return readEip3009(payload);
    case "auth-capture":
      return readAuthCapture(payload, accepted.payTo);
    case "batch-settlement":
      return readVoucher(payload, accepted.amount);
    case "exact-permit2":
    case "upto":
      return readPermit2(scheme, payload);
  }
}

/** The scheme of a payment by its own form; null for one that is not known here. */
function schemeOf({ accepted: { scheme }, payload }: PaymentPayload): PaymentScheme | null {
  const isPermit2 = "permit2Authorization" in payload;
  if (scheme === "upto") return isPermit2 ? "upto" : null;
  const isEip3009 = "authorization" in payload;
  if (scheme === "auth-capture") return isEip3009 ? "auth-capture" : null;
  if (scheme === "batch-settlement") {
    return payload.type === "voucher" || payload.type === "deposit" ? "batch-settlement" : null;
  }
  if (scheme !== "exact") return null;
  if (isPermit2) return "exact-permit2";
  return isEip3009 ? "exact" : null;
}

/** Addresses are normalised to checksums, which every facilitator accepts. */
function readEip3009(payload: PaymentPayload["payload"]) {
  const parsed = eip3009Schema.safeParse(payload);
  if (!parsed.success) return { error: parsed.error };
  const { signature, authorization: signed } = parsed.data;
  const { from, to, value, validAfter, validBefore, nonce } = signed;
  return {
    error: null,
    signature,
    authorization: { scheme: "exact", token: null, spender: null, facilitator: undefined, ...signed },
    normalised: {
      signature,
      authorization: {
        from: getAddress(from),
        to: getAddress(to),
        value: value.toString(),
        validAfter: validAfter.toString(),
        validBefore: validBefore.toString(),
        nonce,
      },
    },
  } as const;
}

/** The authorization is to the collector, and its nonce commits to the payee. */
function readAuthCapture(payload: PaymentPayload["payload"], payTo: string) {
  const salted = saltSchema.safeParse(payload);
  if (!salted.success) return { error: salted.error };
  const read = readEip3009(payload);
  if (read.error !== null) return read;
  const { authorization, normalised } = read;
  return {
    ...read,
    authorization: {
      ...authorization,
      scheme: "auth-capture",
      // matchPayment compares it with ours.
      to: payTo.toLowerCase() as Address,
      spender: authorization.to,
    },
    normalised: { ...normalised, salt: salted.data.salt },
  } as const;
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
  header: ReturnType<typeof readPaymentHeader>,
  expected: {
    /** The entries of `accepts`, of which a payment fits one. */
    readonly accepts: readonly Offer[];
    /** Absolute URL of the requested resource. */
    readonly resourceUrl: string;
    readonly listed: PresentedPayment["listed"] | undefined;
  },
): PresentedPayment | string {
  const { payload, authorization } = header;
  const { accepted } = payload;
  const offer = expected.accepts.find(({ scheme }) => scheme === authorization?.scheme);
  if (authorization === null || offer === undefined) return unsupported(expected.accepts);
  const { requirements } = offer;
  if (accepted.network !== requirements.network) {
    return `invalid_network: ${requirements.network} is expected.`;
  }
  const asset = requirements.asset.toLowerCase();
  if (accepted.asset.toLowerCase() !== asset || (authorization.token ?? asset) !== asset) {
    return `invalid_asset: ${requirements.asset} is expected.`;
  }
  const spender = SPENDERS[offer.scheme];
  if (authorization.spender !== (spender?.toLowerCase() ?? null)) {
    const word = offer.scheme === "auth-capture" ? "invalid_collector" : "invalid_permit2_spender";
    return `${word}: ${spender} is expected, got ${authorization.spender}.`;
  }
  const price = BigInt(requirements.amount);
  if (accepted.amount !== requirements.amount || authorization.value !== price) {
    return `invalid_amount: exactly ${price} of the token's smallest unit is expected, got ${authorization.value}.`;
  }
  const payTo = requirements.payTo.toLowerCase();
  if (accepted.payTo.toLowerCase() !== payTo || authorization.to !== payTo) {
    return `invalid_recipient: ${requirements.payTo} is to be paid.`;
  }
  if (offer.scheme === "upto") {
    // Another one could take less than the answer costs.
    const { facilitatorAddress } = facilitatorSchema.parse(requirements.extra);
    if (authorization.facilitator !== facilitatorAddress)
      return `upto_facilitator_mismatch: ${getAddress(facilitatorAddress)} is expected.`;
  }
  const payment: PresentedPayment = {
    scheme: offer.scheme,
    payer: authorization.from,
    asset: requirements.asset.toLowerCase() as PresentedPayment["asset"],
    payTo: authorization.to,
    nonce: authorization.nonce,
    amount: authorization.value,
    validAfter: authorization.validAfter,
    validBefore: authorization.validBefore,
    payload: storable(payload),
    requirements,
    ...(expected.listed === undefined ? {} : { listed: expected.listed }),
  };
  return termsFault(payment) ?? elsewhere(payload.resource?.url, expected.resourceUrl) ?? payment;
}

/** Returns why a payment does not commit to what its scheme offers in `extra`; null if it does. */
function termsFault(payment: PresentedPayment): string | null {
  const { network, extra } = payment.requirements;
  const offered = { chainId: chainIdOf(network), extra };
  switch (payment.scheme) {
    case "auth-capture":
      return captureFault(payment, offered);
    case "batch-settlement":
      return channelFault(payment, offered);
    case "exact":
    case "exact-permit2":
    case "upto":
      return null;
  }
}

const facilitatorSchema = z.looseObject({ facilitatorAddress: addressText });

/** The contract that the payer lets move its money; null where the token does so itself. */
const SPENDERS: Readonly<Record<PaymentScheme, Address | null>> = {
  exact: null,
  "auth-capture": CAPTURE_COLLECTOR,
  "batch-settlement": null,
  ...PERMIT2_SPENDERS,
};

/** Of a CAIP-2 network of EVM. */
function chainIdOf(network: string): number {
  return Number(network.split(":")[1]);
}

function unsupported(accepts: readonly Offer[]): string {
  const ways = accepts.map(({ scheme }) => WAYS[scheme]).join(" or ");
  return `unsupported_scheme: ${ways} is expected.`;
}

/** The schemes in the words of the protocol. */
const WAYS: Readonly<Record<PaymentScheme, string>> = {
  exact: "exact by EIP-3009",
  "exact-permit2": "exact by Permit2",
  upto: "upto by Permit2",
  "auth-capture": "auth-capture by EIP-3009",
  "batch-settlement": "batch-settlement by voucher, or with a deposit by EIP-3009,",
};

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

const receiveTypes = { ReceiveWithAuthorization: authorizationTypes.TransferWithAuthorization };
const domainSchema = z.looseObject({ name: z.string(), version: z.string() });

/** Returns whether the payer signed the payment, by its key (needs no node) or as a contract. */
export async function isSignedByPayer(
  payment: PresentedPayment,
  signature: Hex,
  contracts: ContractPayers,
): Promise<boolean> {
  const hash = digestOf(payment);
  // A signature that no key can have made has no signer.
  const signer = await recoverAddress({ hash, signature }).catch(() => null);
  if (payment.scheme === "batch-settlement") {
    // The contract accepts fewer signatures than others.
    return isContractSignature(signature) && signer !== null && isAddressEqual(signer, payment.payer);
  }
  if (signer !== null && isAddressEqual(signer, payment.payer)) return true;
  return contracts({ address: payment.payer, hash, signature });
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

/** The EIP-712 hash that the payer signs. */
function digestOf(payment: PresentedPayment): Hex {
  const { scheme, requirements, payer: from, amount: value, validAfter, validBefore, nonce } = payment;
  if (scheme === "exact-permit2" || scheme === "upto") return permitDigest(payment, scheme);
  const chainId = chainIdOf(requirements.network);
  if (scheme === "batch-settlement") return voucherDigest(payment, chainId);
  const { name, version } = domainSchema.parse(requirements.extra);
  const domain = { name, version, chainId, verifyingContract: payment.asset };
  const message = { from, value, validAfter, validBefore, nonce };
  if (scheme === "exact") {
    return hashTypedData({
      ...{ domain, types: authorizationTypes, primaryType: "TransferWithAuthorization" },
      message: { ...message, to: payment.payTo },
    });
  }
  return hashTypedData({
    ...{ domain, types: receiveTypes, primaryType: "ReceiveWithAuthorization" },
    message: { ...message, to: CAPTURE_COLLECTOR },
  });
}
