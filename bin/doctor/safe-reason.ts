import { BaseError } from "viem";
import { knownSecrets } from "../secrets/known-secrets.ts";
import { createScrub } from "../secrets/scrub.ts";

const URLS = /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"']+/gi;
const LONGEST = 200;

/** Says why something failed in one line: no URL, and no secret of the environment, wherever it stands in the message. */
export function safeReason(env: Readonly<Record<string, string | undefined>>): (error: unknown) => string {
  const scrub = createScrub(knownSecrets(env));
  return (error) =>
    scrub(messageOf(error)).replace(URLS, "(URL)").replace(/\s+/g, " ").trim().slice(0, LONGEST);
}

/** viem's first line stands alone; the causes of what fetch throws say more than it does. */
function messageOf(error: unknown): string {
  if (error instanceof BaseError) return `${error.shortMessage} ${error.details}`;
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const inner = cause instanceof Error ? ` (${"code" in cause ? String(cause.code) : cause.message})` : "";
  const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
  return `${error.message === "" ? "the connection failed" : error.message}${code}${inner}`;
}
