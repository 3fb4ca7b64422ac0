import type { KeyObject } from "node:crypto";
import type { PaymentRequirements, SettleResponse } from "@x402/core/types";
import { OFFER_RECEIPT } from "@x402/extensions/offer-receipt";
import canonicalize from "canonicalize";
import { CompactSign } from "jose";

/** Signs offers and receipts of x402's extension `offer-receipt`. */
export type OfferSigner = ReturnType<typeof createOfferSigner>;

const EXTENSION_VERSION = 1;

/** Signs as the DID of an origin (did:web), whose document holds the public key. */
export function createOfferSigner({
  key,
  kid,
  origin,
  now,
}: {
  /** Of Ed25519. */
  readonly key: KeyObject;
  /** As the DID document names the key. */
  readonly kid: string;
  readonly origin: string;
  readonly now: () => Date;
}) {
  const header = { alg: "EdDSA", kid: `${didOf(origin)}#${kid}` } as const;
  const seconds = () => Math.floor(now().getTime() / 1_000);
  const sign = async (payload: object) => ({
    format: "jws",
    signature: await new CompactSign(new TextEncoder().encode(canonicalize(payload)))
      .setProtectedHeader(header)
      .sign(key),
  });
  return {
    /** The extension of a 402: each entry of `accepts`, signed for a resource until a payment for it would have to end. */
    async offers(resourceUrl: string, accepts: readonly PaymentRequirements[]): Promise<SignedExtension> {
      const offers = accepts.map(async (terms, acceptIndex) => {
        const { scheme, network, asset, payTo, amount, maxTimeoutSeconds } = terms;
        const validUntil = seconds() + maxTimeoutSeconds;
        const offer = { version: EXTENSION_VERSION, resourceUrl, scheme, network, asset, payTo, amount };
        return { ...(await sign({ ...offer, validUntil })), acceptIndex };
      });
      const schema = listing("offers", { type: "array", items: SIGNED });
      return { [OFFER_RECEIPT]: { info: { offers: await Promise.all(offers) }, schema } };
    },
    /** The extension of a settlement report: that this payer has paid for the resource and was answered. */
    async receipt(
      resourceUrl: string,
      { payer = "", network, transaction }: Pick<SettleResponse, "payer" | "network" | "transaction">,
    ): Promise<SignedExtension> {
      const issuedAt = seconds();
      const receipt = { version: EXTENSION_VERSION, network, resourceUrl, payer, issuedAt, transaction };
      return {
        [OFFER_RECEIPT]: { info: { receipt: await sign(receipt) }, schema: listing("receipt", SIGNED) },
      };
    },
  };
}

type SignedExtension = Readonly<Record<string, { readonly info: object; readonly schema: object }>>;

const SIGNED = {
  type: "object",
  properties: { format: { const: "jws" }, signature: { type: "string" } },
  required: ["format", "signature"],
};

function listing(name: string, schema: object): object {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { [name]: schema },
    required: [name],
  };
}

/** The DID of an origin; its document is at /.well-known/did.json. */
export function didOf(origin: string): string {
  return `did:web:${encodeURIComponent(new URL(origin).host)}`;
}
