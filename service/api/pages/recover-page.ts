import { createSIWxMessage } from "@x402/extensions/sign-in-with-x";
import { z } from "zod";
import { Problem } from "../../access/problems.ts";
import { addressSchema, toEip55 } from "../address-schema.ts";
import { answerJson } from "../answer.ts";
import type { ApiContext } from "../api-env.ts";
import { readBody } from "../validation/read-body.ts";
import { jsonIn } from "./json-in.ts";
import { type Page, type PageRuntime, redirectTo } from "./page.ts";

const bodySchema = z.object({ address: addressSchema });

/**
 * POST /account/sign-in: what a wallet signs to be given another key for one that it bought, by POST /keys/rotate. Whoever asks gets
 * a text and no right: it is good with the wallet's signature alone, once, and for five minutes.
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
