import { getCookie } from "hono/cookie";
import type { ApiContext } from "../kit/api-env.ts";

const NAME = "ahs_key";
/** What a key looks like; whatever does not is no key, and is never sent on. */
const KEY_FORM = /^ahs_[A-Za-z0-9_-]{43}$/;

/** Where the service is reached: scheme, host and port. */
type Site = { readonly origin: string };

/** The API key that a browser is signed in with, as it was presented; null without one. */
export function signedInKey(context: ApiContext, site: Site): string | null {
  return keyOf(getCookie(context, nameOn(site)) ?? "");
}

/** The key in a text that somebody pasted; null where it is none. */
export function keyOf(text: string): string | null {
  const trimmed = text.trim();
  return KEY_FORM.test(trimmed) ? trimmed : null;
}

/** The header that signs a browser in, until it is closed: for this host alone, unseen by scripts and by requests of other sites. */
export function signInCookie(key: string, site: Site): { readonly "set-cookie": string } {
  return { "set-cookie": `${nameOn(site)}=${key}; ${attributesOn(site)}` };
}

/** The header that signs it out. */
export function signOutCookie(site: Site): { readonly "set-cookie": string } {
  return { "set-cookie": `${nameOn(site)}=; Max-Age=0; ${attributesOn(site)}` };
}

/** A browser takes a name of this prefix from the host itself over https alone: no sibling host, and nobody on the way, can set one. */
function nameOn(site: Site): string {
  return isHttps(site) ? `__Host-${NAME}` : NAME;
}

function attributesOn(site: Site): string {
  return `Path=/; HttpOnly; SameSite=Strict${isHttps(site) ? "; Secure" : ""}`;
}

function isHttps({ origin }: Site): boolean {
  return origin.startsWith("https:");
}
