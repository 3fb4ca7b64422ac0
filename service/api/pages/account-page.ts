import { createSIWxMessage } from "@x402/extensions/sign-in-with-x";
import { z } from "zod";
import { Problem, problemType, unauthorized } from "../../access/problems.ts";
import { rateLimited } from "../../access/rate-limits.ts";
import { answer, answerJson } from "../kit/answer.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { answerProblem } from "../kit/handle-error.ts";
import { readBody } from "../kit/read-input.ts";
import { addressSchema, toEip55 } from "../schemas/values.ts";
import { keyOf, signedInKey, signInCookie, signOutCookie } from "./account-cookie.ts";
import {
  type AccountView,
  keySelfIn,
  renderAccount,
  renderRotated,
  renderSignedOut,
} from "./account-view.ts";
import { askInterface, jsonIn, readForm, readRefusal } from "./ask-interface.ts";
import { answerPrivatePage, type Page, type PageHandler, type PageRuntime, redirectTo } from "./page.ts";
import { policyAsSent, policyFault, policyIn, policyOfForm } from "./policy-editor.ts";

const PATH = "/account";
/** Allowed targets of a sign-in: own paths only, nothing that a browser could read as another host. */
const ONWARD = /^\/(?:wallet\/0x[0-9a-fA-F]{40}(?:\/[a-z-]{1,20})?|verdict\/[0-9a-f-]{36})$/;

const USAGE_DAYS = 30;

const ONCE = /^[A-Za-z0-9-]{8,64}$/;

/** GET and POST /account: sign in with a key, show it, replace it. */
export const accountPage: Page = { path: PATH, needs: "/keys/self", get: show, post: act };

function show(context: ApiContext, runtime: PageRuntime): Promise<Response> {
  return showAccount(context, runtime, null);
}

/** `refused` is a sent policy that was not saved, and why. */
async function showAccount(
  context: ApiContext,
  runtime: PageRuntime,
  refused: { readonly fault: string; readonly form: URLSearchParams } | null,
): Promise<Response> {
  const key = signedInKey(context, runtime);
  const onward = onwardOf(context.req.query("next"));
  if (key === null) return answerSignedOut(context, runtime, { onward, fault: null });
  const self = await askInterface(context, runtime, { method: "GET", path: "/keys/self", key });
  if (self.status === 401) {
    const fault = `You were signed out. ${await whyNotSignedIn(self, runtime)}`;
    return answerSignedOut(context, runtime, { onward, fault, headers: signOutCookie(runtime) });
  }
  await requireAnswered(self);
  const view = await viewOf(context, runtime, { key, self: keySelfIn(await self.json()) });
  const policy =
    refused === null || view.policy === null ? view.policy : policyAsSent(refused.form, view.policy);
  const { title, body } = renderAccount({ ...view, policy, policyFault: refused?.fault ?? null });
  const status = refused === null ? 200 : 422;
  return answerPrivatePage(context, { title, path: PATH, body, script: "buy-key.js" }, { status });
}

async function act(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const form = await readForm(context);
  switch (form.get("action")) {
    case "sign-in":
      return signIn(context, runtime, form);
    case "sign-out":
      return redirectTo(context, PATH, { status: 303, headers: signOutCookie(runtime) });
    case "rotate":
      return rotate(context, runtime, form);
    case "policy":
      return savePolicy(context, runtime, form);
    default:
      throw new Problem("request-malformed", "Unknown action of the form.");
  }
}

async function signIn(context: ApiContext, runtime: PageRuntime, form: URLSearchParams): Promise<Response> {
  const { signInLimit, socketAddress } = runtime.ports.account;
  const limit = signInLimit({
    socket: socketAddress(context),
    forwardedFor: context.req.header("x-forwarded-for"),
  });
  if (limit !== null) throw rateLimited(limit);
  const onward = onwardOf(form.get("next") ?? undefined);
  const key = keyOf(form.get("key") ?? "");
  if (key === null) {
    const fault = "Not an API key. A key begins with ahs_ and has 47 characters.";
    return answerSignedOut(context, runtime, { onward, fault, status: 422 });
  }
  const self = await askInterface(context, runtime, { method: "GET", path: "/keys/self", key });
  if (self.status === 401)
    return answerSignedOut(context, runtime, {
      onward,
      fault: await whyNotSignedIn(self, runtime),
      status: 401,
    });
  await requireAnswered(self);
  return redirectTo(context, onward ?? PATH, { status: 303, headers: signInCookie(key, runtime) });
}

/** Replaces the routing policy that the form showed; a policy that changed meanwhile is not overwritten. */
async function savePolicy(
  context: ApiContext,
  runtime: PageRuntime,
  form: URLSearchParams,
): Promise<Response> {
  const key = signedInKey(context, runtime);
  if (key === null) return redirectTo(context, PATH, { status: 303 });
  const saved = await askInterface(context, runtime, {
    method: "PUT",
    path: "/ahs/route/policy",
    key,
    headers: { "content-type": "application/json", "if-match": form.get("tag") ?? "*" },
    body: JSON.stringify(policyOfForm(form)),
  });
  if (saved.ok) return redirectTo(context, `${PATH}#policy`, { status: 303 });
  if (saved.status === 401 || saved.status >= 500) await requireAnswered(saved);
  return showAccount(context, runtime, { fault: await faultIn(saved), form });
}

/** The first fault of a refused policy, or the text of another refusal. */
async function faultIn(refused: Response): Promise<string> {
  const body = jsonIn(await refused.clone().text());
  return policyFault(body) ?? (await readRefusal(refused)).words;
}

/** Shows the new key once. The id of the form prevents a second replacement. */
async function rotate(context: ApiContext, runtime: PageRuntime, form: URLSearchParams): Promise<Response> {
  const key = signedInKey(context, runtime);
  if (key === null) return redirectTo(context, PATH, { status: 303 });
  const once = form.get("once") ?? "";
  if (!ONCE.test(once)) throw new Problem("request-malformed", "This form was not made by the page.");
  const answer = await askInterface(context, runtime, {
    method: "POST",
    path: "/keys/rotate",
    key,
    headers: { "content-type": "application/json", "idempotency-key": once },
    body: "{}",
  });
  await requireAnswered(answer);
  const body: unknown = await answer.json();
  const fresh = typeof body === "object" && body !== null && "api_key" in body ? body.api_key : null;
  const secret = typeof fresh === "string" ? keyOf(fresh) : null;
  const page = { ...renderRotated(secret), path: PATH };
  return answerPrivatePage(context, page, secret === null ? {} : { headers: signInCookie(secret, runtime) });
}

async function viewOf(
  context: ApiContext,
  runtime: PageRuntime,
  { key, self }: { key: string; self: AccountView["self"] },
): Promise<Omit<AccountView, "policyFault">> {
  const { account } = runtime.ports;
  const now = runtime.clock.now();
  const since = new Date(now.getTime() - USAGE_DAYS * 86_400_000);
  const [summary, owed, policy, verdicts, usage] = await Promise.all([
    account.keySummary(self.key_id),
    self.bought_by === null ? [] : runtime.ports.owed([addressSchema.parse(self.bought_by)]),
    askInterface(context, runtime, { method: "GET", path: "/ahs/route/policy", key }),
    account.verdicts(self.key_id),
    account.usage(self.key_id, since),
  ]);
  const subscriptions = await Promise.all(
    (summary?.subscriptions ?? []).map(async (one) => ({
      ...one,
      deliveries: await account.deliveries(one.id),
    })),
  );
  return {
    self,
    summary,
    owed,
    subscriptions,
    verdicts,
    usage,
    now,
    policy: policy.ok ? policyIn(await policy.json(), policy.headers.get("etag") ?? "*") : null,
    sellsKeys: account.payment !== null,
    once: account.randomId(),
  };
}

function answerSignedOut(
  context: ApiContext,
  { ports, origin }: PageRuntime,
  {
    onward,
    fault,
    ...rest
  }: {
    readonly onward: string | null;
    /** Why the sign-in failed; null if there was no attempt. */
    readonly fault: string | null;
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Response {
  const { payment } = ports.account;
  const page = {
    title: "Account",
    path: PATH,
    body: renderSignedOut({ onward, fault, payment, origin }),
    ...(payment !== null ? { script: "buy-key.js" } : {}),
  };
  return answerPrivatePage(context, page, rest);
}

/** Why a sign-in failed, in words for readers of the page instead of names of endpoints. */
async function whyNotSignedIn(answer: Response, { ports }: PageRuntime): Promise<string> {
  const { type, words } = await readRefusal(answer);
  if (type !== problemType("key-unknown")) return words;
  return `No such key exists. ${ports.account.payment !== null ? "Buy one below, or replace a lost one." : "Ask the operator for a key."}`;
}

/** Throws a refusal of the interface as one of the page, with its status. */
async function requireAnswered(answer: Response): Promise<void> {
  if (answer.ok) return;
  const { words } = await readRefusal(answer);
  switch (answer.status) {
    case 401:
      throw new Problem(
        "key-unknown",
        `${words} If you sent this form twice, the first answer showed the new key.`,
      );
    case 409:
      throw new Problem("request-in-flight", words);
    case 429:
      throw new Problem("rate-limited", words, { headers: retryAfter(answer) });
    default:
      throw new Problem("database-unavailable", words, { headers: retryAfter(answer) });
  }
}

function retryAfter(answer: Response): Readonly<Record<string, string>> {
  const seconds = answer.headers.get("retry-after");
  return seconds === null ? {} : { "retry-after": seconds };
}

function onwardOf(given: string | undefined): string | null {
  return given !== undefined && ONWARD.test(given) ? given : null;
}

/** Headers that request, make, report and repeat a payment. */
const CARRIED = {
  there: ["payment-signature", "x-payment-claim"],
  back: ["payment-required", "payment-response", "retry-after"],
} as const;

/**
 * POST /account/topup: POST /keys/topup for the key of a signed-in browser, whose scripts cannot read it. Takes and answers JSON
 * like the endpoint.
 */
export const topUpPage: Page = {
  path: "/account/topup",
  needs: "/keys/topup",
  get: async (context) => redirectTo(context, "/account", { status: 303 }),
  post: topUp,
};

async function topUp(context: ApiContext, runtime: PageRuntime): Promise<Response> {
  const key = signedInKey(context, runtime);
  if (key === null)
    return answerProblem(unauthorized("key-missing", "You are signed out: sign in again."), context);
  const asked = await askInterface(context, runtime, {
    method: "POST",
    path: "/keys/topup",
    key,
    headers: {
      "content-type": "application/json",
      ...headersOf(CARRIED.there, (name) => context.req.header(name)),
    },
    body: await readBody(context.req),
  });
  return answer(context, {
    status: asked.status,
    body: await asked.text(),
    headers: {
      "content-type": asked.headers.get("content-type") ?? "application/json",
      "cache-control": "private, no-store",
      ...headersOf(CARRIED.back, (name) => asked.headers.get(name) ?? undefined),
    },
  });
}

function headersOf(
  names: readonly string[],
  read: (name: string) => string | undefined,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = read(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const bodySchema = z.object({ address: addressSchema });

/**
 * POST /account/sign-in: the text that a wallet signs to replace a bought key by POST /keys/rotate, or to read GET /owed. The text
 * alone grants nothing: it needs the wallet's signature, works once, and expires after five minutes.
 */
export const recoverPage: Page = {
  path: "/account/sign-in",
  needs: "/keys/rotate",
  get: async (context) => redirectTo(context, "/account", { status: 303 }),
  post: offerSignIn,
};

async function offerSignIn(context: ApiContext, { ports, origin, clock }: PageRuntime): Promise<Response> {
  const address = toEip55(addressIn(await readBody(context.req)));
  const fields = {
    domain: new URL(origin).host,
    uri: origin,
    version: "1",
    chainId: `eip155:${ports.chain.chainId}` as const,
    type: "eip191" as const,
    nonce: ports.account.randomId().replaceAll("-", ""),
    issuedAt: clock.now().toISOString(),
    statement: "Sign in once, to replace a key that this wallet bought or to see what is owed to it.",
  };
  const message = createSIWxMessage(fields, address);
  const noStore = { "cache-control": "private, no-store" };
  return answerJson(context, { message, fields: { ...fields, address } }, { headers: noStore });
}

function addressIn(body: string) {
  const parsed = bodySchema.safeParse(jsonIn(body));
  if (parsed.success) return parsed.data.address;
  throw new Problem("request-malformed", "The address of a wallet was expected.");
}
