import type { HonoRequest } from "hono";
import type { Address } from "viem";
import type { Caller, PayingCaller } from "./access.ts";

/** Whose something is: policies, subscriptions and stored answers belong to a key or to a wallet. */
export type Owner =
  | { readonly kind: "key"; readonly keyId: string }
  /** Lower-case. */
  | { readonly kind: "wallet"; readonly address: Address };

/** How free endpoints learn whose policy or subscription is meant. */
export type OwnerAccess = {
  /** By X-API-Key, else by SIGN-IN-WITH-X; throws a 401 when the request proves nobody, and a 429 beyond the owner's rate. */
  identify(request: HonoRequest): Promise<Owner>;
};

/** The form in which rows name their owner: key:ID or wallet:ADDRESS. */
export function ownerText(owner: Owner): string {
  switch (owner.kind) {
    case "key":
      return `key:${owner.keyId}`;
    case "wallet":
      return `wallet:${owner.address}`;
  }
}

/** Whose a paid call's things are; null for a caller who has not proven anything. */
export function ownerOf(caller: PayingCaller): Owner;
export function ownerOf(caller: Caller): Owner | null;
export function ownerOf(caller: Caller): Owner | null {
  switch (caller.kind) {
    case "key":
      return { kind: "key", keyId: caller.keyId };
    case "payer":
      return { kind: "wallet", address: caller.address };
    case "nobody":
      return null;
  }
}
