import { unauthorized } from "../../access/problems.ts";
import { answer } from "../answer.ts";
import type { ApiContext } from "../api-env.ts";
import { answerProblem } from "../handle-error.ts";
import { readBody } from "../validation/read-body.ts";
import { signedInKey } from "./account-cookie.ts";
import { askInterface } from "./ask-interface.ts";
import { type Page, type PageRuntime, redirectTo } from "./page.ts";

/** Headers by which a payment is asked for, made, reported and repeated. */
const CARRIED = {
  there: ["payment-signature", "x-payment-claim"],
  back: ["payment-required", "payment-response", "retry-after"],
} as const;

/**
 * POST /account/topup: POST /keys/topup for the key that a browser is signed in with, which its script cannot read. It takes and
 * answers JSON, as the endpoint does.
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
