import { hash } from "node:crypto";

/** What names an authorization on all chains. */
type PaidAuthorization = {
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  readonly payer: string;
  readonly nonce: string;
};

/** A UUID (RFC 9562, version 8) that follows from the payment: whatever happens to its first answer, it credits once. */
export function creditIdOf({ network, asset, payer, nonce }: PaidAuthorization): string {
  const name = `credit ${network} ${asset} ${payer} ${nonce}`.toLowerCase();
  const digits = hash("sha256", name, "hex").slice(0, 32);
  const variant = ((Number.parseInt(digits.slice(16, 17), 16) % 4) + 8).toString(16);
  const text = `${digits.slice(0, 12)}8${digits.slice(13, 16)}${variant}${digits.slice(17)}`;
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
