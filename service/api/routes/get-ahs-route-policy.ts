import { z } from "@hono/zod-openapi";
import type { OwnerAccess } from "../../access/access.ts";
import { ownerText } from "../../access/access.ts";
import { DEFAULT_VERSION, type StoredPolicy } from "../../scores/routing-policies.ts";
import { answer, answerJson, callerRequest, namesVersion } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import type { PolicyNeeds } from "../schemas/route-policy.ts";
import { policySchema, policyTag, renderPolicy } from "../schemas/route-policy.ts";

/** Services of the endpoint. */
type Needs = PolicyNeeds & {
  readonly owners: OwnerAccess;
};

/** Headers of an answer with a policy: private, and revalidated at every use. */
export function policyHeaders(stored: StoredPolicy | null): Readonly<Record<string, string>> {
  return {
    etag: policyTag(stored),
    "cache-control": "private, no-cache",
    vary: "X-API-Key, Authorization, SIGN-IN-WITH-X",
  };
}

/** GET /ahs/route/policy. */
export const getRoutePolicy = defineFree<Needs>()({
  method: "get",
  path: "/ahs/route/policy",
  operationId: "get_routing_policy",
  tool: "Returns the routing policy of the caller: the rules that route_payment applies for this key. Use it before you change them.",
  tag: "Routing",
  summary: "The caller's routing policy",
  description:
    "The policy by which `GET /ahs/route/{address}` decides for this caller: the key in `X-API-Key`, or else the wallet that signs in by `SIGN-IN-WITH-X`, whose paid calls without a key it holds for. Without a policy of its own a caller has the default table, and `updated_at` is null. `If-None-Match` with the `ETag` of an earlier answer is answered 304 while nothing changed.",
  identity: "owner",
  headers: { "If-None-Match": "ETags that the caller holds: 304 where one of them is current" },
  request: { params: z.object({}), query: z.object({}), body: null },
  answer: { schema: policySchema, description: "The policy, with its ETag" },
  alternatives: { 304: { description: "Unchanged since the ETag in If-None-Match" } },
  problems: ["database-unavailable", "internal"],
  async respond(context, _input, { deps }) {
    const owner = await deps.owners.identify(callerRequest(context));
    const stored = await deps.policies.of(ownerText(owner));
    const headers = policyHeaders(stored);
    const version = stored?.version ?? DEFAULT_VERSION;
    if (namesVersion(context.req.header("if-none-match"), version))
      return answer(context, { status: 304, body: null, headers });
    return answerJson(context, renderPolicy(stored), { headers });
  },
});
