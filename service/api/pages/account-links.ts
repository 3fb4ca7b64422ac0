import { createSIWxMessage } from "@x402/extensions/sign-in-with-x";
import { z } from "zod";
import { Problem, unauthorized } from "../../access/problems.ts";
import { answer, answerJson } from "../kit/answer.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { answerProblem } from "../kit/handle-error.ts";
import { readBody } from "../kit/read-input.ts";
import { addressSchema, toEip55 } from "../schemas/values.ts";
import { signedInKey } from "./account-cookie.ts";
import { askInterface, jsonIn } from "./ask-interface.ts";
import { type Page, type PageRuntime, redirectTo } from "./page.ts";

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
 * POST /account/sign-in: the text that a wallet signs to replace a bought key by POST /keys/rotate. The text alone grants
 * nothing: it needs the wallet's signature, works once, and expires after five minutes.
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
    statement: "Replace the API key that this wallet bought.",
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
