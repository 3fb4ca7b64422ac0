import { getCookie } from "hono/cookie";
import type { ApiContext } from "../api-env.ts";

const NAME = "ahs_key";
/** What a key looks like; whatever does not is no key, and is never sent on. */
const KEY_FORM = /^ahs_[A-Za-z0-9_-]{43}$/;

/** The API key that a browser is signed in with, as it was presented; null without one. */
export function signedInKey(context: ApiContext): string | null {
  return keyOf(getCookie(context, NAME) ?? "");
}

/** The key in a text that somebody pasted; null where it is none. */
export function keyOf(text: string): string | null {
  const trimmed = text.trim();
  return KEY_FORM.test(trimmed) ? trimmed : null;
}

/** The header that signs a browser in, until it is closed: for this host alone, unseen by scripts and by requests of other sites. */
export function signInCookie(key: string, isHttps: boolean): { readonly "set-cookie": string } {
  return { "set-cookie": `${NAME}=${key}; ${attributes(isHttps)}` };
}

/** The header that signs it out. */
export function signOutCookie(isHttps: boolean): { readonly "set-cookie": string } {
  return { "set-cookie": `${NAME}=; Max-Age=0; ${attributes(isHttps)}` };
}

function attributes(isHttps: boolean): string {
  return `Path=/; HttpOnly; SameSite=Strict${isHttps ? "; Secure" : ""}`;
}
