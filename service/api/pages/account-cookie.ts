import { getCookie } from "hono/cookie";
import type { ApiContext } from "../kit/api-env.ts";

const NAME = "ahs_key";
/** Shape of a key; other texts are never sent on. */
const KEY_FORM = /^ahs_[A-Za-z0-9_-]{43}$/;

type Site = { readonly origin: string };

/** The API key of a signed-in browser; null without one. */
export function signedInKey(context: ApiContext, site: Site): string | null {
  return keyOf(getCookie(context, nameOn(site)) ?? "");
}

/** The key in a pasted text; null if it is not a key. */
export function keyOf(text: string): string | null {
  const trimmed = text.trim();
  return KEY_FORM.test(trimmed) ? trimmed : null;
}

/** Set-Cookie header of a sign-in: a session cookie for this host, hidden from scripts and other sites. */
export function signInCookie(key: string, site: Site): { "set-cookie": string } {
  return { "set-cookie": `${nameOn(site)}=${key}; ${attributesOn(site)}` };
}

export function signOutCookie(site: Site): { "set-cookie": string } {
  return { "set-cookie": `${nameOn(site)}=; Max-Age=0; ${attributesOn(site)}` };
}

/** Browsers accept a cookie with this prefix only from the host itself over https. */
function nameOn(site: Site): string {
  return isHttps(site) ? `__Host-${NAME}` : NAME;
}

function attributesOn(site: Site): string {
  return `Path=/; HttpOnly; SameSite=Strict${isHttps(site) ? "; Secure" : ""}`;
}

function isHttps({ origin }: Site): boolean {
  return origin.startsWith("https:");
}
