import { z } from "@hono/zod-openapi";
import type { OwnerAccess } from "../../access/access.ts";
import { ownerText } from "../../access/access.ts";
import { Problem } from "../../access/problems.ts";
import { answerJson, callerRequest, versionsToMatch } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { ValidationFailed, valueFault } from "../kit/validation-failed.ts";
import type { PolicyNeeds } from "../schemas/route-policy.ts";
import {
  type PolicyBody,
  policyBodySchema,
  policyOf,
  policySchema,
  renderPolicy,
} from "../schemas/route-policy.ts";
import { toEip55 } from "../schemas/values.ts";
import { policyHeaders } from "./get-ahs-route-policy.ts";

/** Services of the endpoint. */
type Needs = PolicyNeeds & {
  readonly owners: OwnerAccess;
};

/** PUT /ahs/route/policy. */
export const putRoutePolicy = defineFree<Needs>()({
  method: "put",
  path: "/ahs/route/policy",
  operationId: "set_routing_policy",
  tool: "Replaces the routing policy of the caller and returns the stored policy. Omitted fields get their default: send the policy of get_routing_policy with your change. Use it only on request of the key's owner.",
  tag: "Routing",
  summary: "Replace the caller's routing policy",
  description:
    "Replaces the whole policy. An omitted field gets its default, not its current value: to change one field of a stored policy, send the answer of `GET /ahs/route/policy` with that change. Each grade is in at most one set; grades in no set reject. The first rule that applies decides. A sanctioned wallet always rejects; the allowlist does not bypass sanctions. An allowlisted wallet settles at once. A wallet that is not scored, or has not enough history, gets `insufficient_action`. `confidence_overrides` come next, then the grade sets. An instant_settle by one of the last three rules becomes escrow below `min_confidence_for_instant`, and for an `amount_usd` above `max_instant_usd` or above `safe_amount_multiple` times the available safe amount. `threat_action` then holds or rejects a wallet on a list of threats. Last, `escrow_disabled` turns every escrow into a reject. The policy applies from the next route call on. `If-Match` with the `ETag` of an earlier answer prevents lost updates: the answer is 412 if the policy has changed since.",
  identity: "owner",
  headers: { "If-Match": "ETags of the state that is to be replaced, or `*` for any that is stored" },
  request: { params: z.object({}), query: z.object({}), body: policyBodySchema },
  answer: { schema: policySchema, description: "The policy as stored, with its ETag" },
  problems: ["header-malformed", "precondition-failed", "database-unavailable", "internal"],
  async respond(context, { body }, { deps, now }) {
    if (body === null) throw new Error("a body was checked and is absent");
    const ifVersion = versionsToMatch(context.req.header("if-match"));
    const owner = await deps.owners.identify(callerRequest(context));
    refuseOwnWallets(body, await deps.policies.ownWallets(owner));
    const stored = await deps.policies.write({
      owner: ownerText(owner),
      policy: policyOf(body),
      now,
      ifVersion,
    });
    if (stored === null) {
      throw new Problem(
        "precondition-failed",
        "The policy is not in the state that If-Match names; read it again.",
      );
    }
    return answerJson(context, renderPolicy(stored), { headers: policyHeaders(stored) });
  },
});

function refuseOwnWallets({ allowlist }: PolicyBody, own: readonly string[]): void {
  const error = "the caller's own wallet cannot be allowlisted";
  const faults = allowlist.flatMap((wallet, index) =>
    own.includes(wallet) ? [valueFault(["body", "allowlist", index], toEip55(wallet), error)] : [],
  );
  if (faults.length > 0) throw new ValidationFailed(faults);
}
