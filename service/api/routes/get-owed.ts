import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { OwnerAccess } from "../../access/access.ts";
import type { OwedPayment } from "../../access/payments/payments-due.ts";
import { SCHEMES } from "../../access/schemes/schemes.ts";
import { answerJson, callerRequest, NO_STORE } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import type { PolicyNeeds } from "../schemas/route-policy.ts";
import {
  eip55Schema,
  fieldsOf,
  hashSchema,
  isoSchema,
  num,
  text,
  toEip55,
  toUsd,
} from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = PolicyNeeds & {
  readonly owners: OwnerAccess;
  /** The newest settled payments of wallets (lower-case) whose answers are owed. */
  readonly owed: (payers: readonly Address[]) => Promise<readonly OwedPayment[]>;
};

const owedSchema = z
  .object({
    endpoint: text("Method and path of what was bought", "GET /ahs/{address}"),
    resource: text(
      "Path of the request, without its query",
      "/ahs/0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
    ),
    payer: eip55Schema,
    amount_usd: num("What was paid", 1),
    scheme: z
      .enum(SCHEMES.map(({ name }) => name))
      .openapi({ description: "Scheme of x402; exact-permit2: exact, by a Permit2 transfer" }),
    transaction_hash: hashSchema.nullable().openapi({ description: "Null for a voucher" }),
    settled_at: isoSchema,
  })
  .openapi("OwedPayment");

const answerSchema = z
  .object({
    owed: z.array(owedSchema).openapi({ description: "Newest first, at most 100" }),
  })
  .openapi("OwedPayments");

/** GET /owed. */
export const getOwed = defineFree<Needs>()({
  method: "get",
  path: "/owed",
  operationId: "list_owed",
  tool: "Lists the x402 payments that were settled and whose answers are still owed, of the wallet that bought the API key. Use it after paid calls that failed: the same call, paid again by the same wallet, gets the answer and is not charged.",
  tag: "Keys",
  summary: "Payments whose answers are owed",
  description:
    "Lists settled x402 payments whose work failed, of the signed-in wallet, or of the wallet that bought the API key. Each of their answers is free: send the same request again with `SIGN-IN-WITH-X`, with the claim of the failed answer, or with any payment of that wallet for it. A new payment is not taken then. Answers that show a secret need more than the old payment, which is public. Waiting changes nothing: what is owed stays owed.",
  identity: "owner",
  request: { params: z.object({}), query: z.object({}), body: null },
  answer: { schema: answerSchema, description: "The payments" },
  problems: ["database-unavailable", "internal"],
  async respond(context, _input, { deps }) {
    const owner = await deps.owners.identify(callerRequest(context));
    const owed = await deps.owed(await deps.policies.ownWallets(owner));
    return answerJson(context, { owed: owed.map(renderOwed) }, NO_STORE);
  },
});

function renderOwed(payment: OwedPayment): z.infer<typeof owedSchema> {
  return {
    ...fieldsOf(owedSchema.shape, payment),
    payer: toEip55(payment.payer),
    amount_usd: toUsd(payment.amount),
  };
}
