import type { PaymentPayload } from "@x402/core/types";
import { PAYMENT_IDENTIFIER } from "@x402/extensions/payment-identifier";
import { type Address, getAddress, type Hex, isAddress } from "viem";
import { z } from "zod";
import { Problem } from "../problems.ts";

/** The header, read: well-formed, and not yet compared with anything. */
export type PaymentHeader = {
  readonly payload: PaymentPayload;
  /** Null where the scheme is another one or moves money another way. */
  readonly authorization: HeaderAuthorization | null;
  readonly signature: Hex;
};

/** An EIP-3009 authorization as it was signed. */
type HeaderAuthorization = {
  /** Lower-case, as are `to` and the nonce. */
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  /** Unix seconds. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
};

/** api.md section 1. */
const MAX_HEADER_BYTES = 8_192;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** Escapes that JSON can hold and PostgreSQL cannot: NUL and halves of surrogate pairs. */
const UNSTORABLE = /\\u(0000|d[89a-f][0-9a-f]{2})/;

const address = z
  .string()
  .refine((value) => isAddress(value, { strict: false }))
  // isAddress has vouched for it.
  .transform((value) => value.toLowerCase() as Address);
const uint256 = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt);

/**
 * What the 402 advertises of the extension. Not checked by the package's own validator, which compiles whatever schema the client
 * sends along.
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
  signature: z.string().regex(/^0x([0-9a-fA-F]{2}){1,4096}$/),
  authorization: z.looseObject({
    from: address,
    to: address,
    value: uint256,
    validAfter: uint256,
    validBefore: uint256,
    nonce: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/)
      .transform((value) => value.toLowerCase() as Hex),
  }),
});

/** Reads a PAYMENT-SIGNATURE header; throws a 400 for what is no x402 payment of version 2. */
export function readPaymentHeader(header: string): PaymentHeader {
  if (Buffer.byteLength(header) > MAX_HEADER_BYTES) {
    throw malformed(`it is longer than ${MAX_HEADER_BYTES} bytes`);
  }
  const parsed = payloadSchema.safeParse(decode(header));
  if (!parsed.success) throw malformed(faultsOf(parsed.error));
  // The schema has vouched for every member that the type names but the network's prefix, which is compared with ours.
  const payload = parsed.data as unknown as PaymentPayload;
  const isOther = payload.accepted.scheme !== "exact" || !("authorization" in payload.payload);
  if (isOther) return { payload, authorization: null, signature: "0x" };
  const exact = eip3009Schema.safeParse(payload.payload);
  if (!exact.success) throw malformed(faultsOf(exact.error));
  const { authorization, signature } = exact.data;
  return { payload: normalised(payload, exact.data), authorization, signature: signature as Hex };
}

/** Addresses in the one form that every facilitator takes. */
function normalised(payload: PaymentPayload, exact: z.infer<typeof eip3009Schema>): PaymentPayload {
  const { from, to, value, validAfter, validBefore, nonce } = exact.authorization;
  return {
    ...payload,
    accepted: { ...payload.accepted, extra: payload.accepted.extra ?? {} },
    payload: {
      signature: exact.signature,
      authorization: {
        from: getAddress(from),
        to: getAddress(to),
        value: value.toString(),
        validAfter: validAfter.toString(),
        validBefore: validBefore.toString(),
        nonce,
      },
    },
  };
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
