import { z } from "@hono/zod-openapi";
import { ownerText } from "../../access/access.ts";
import { Problem } from "../../access/problems.ts";
import { answerJson, versionsToMatch } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { ValidationFailed, valueFault } from "../kit/validation-failed.ts";
import {
  type PolicyBody,
  policyBodySchema,
  policyOf,
  policySchema,
  renderPolicy,
} from "../schemas/route-policy.ts";
import { toEip55 } from "../schemas/values.ts";
import { policyHeaders } from "./get-ahs-route-policy.ts";

/** PUT /ahs/route/policy. */
export const putRoutePolicy = defineFree({
  method: "put",
  path: "/ahs/route/policy",
  tag: "Routing",
  summary: "Replace the caller's routing policy",
  description:
    "Replaces the whole policy: what is left out gets its default. A grade is in at most one set, and grades in no set reject. Of the rules the first that applies decides: a sanctioned wallet rejects, always, since the allowlist does not bypass sanctions; an allowlisted one settles at once; one never scored or without enough history gets `insufficient_action`; then `confidence_overrides`; then the grade sets. An instant_settle from the last three becomes escrow below `min_confidence_for_instant`, and with an `amount_usd` above `max_instant_usd` or above `safe_amount_multiple` times the available safe amount. `threat_action` then holds or rejects a wallet on a list of threats. Last, `escrow_disabled` turns an escrow from any of these into a reject. The next route call already decides by it. `If-Match` with the `ETag` of an earlier answer keeps two writers from losing each other's update: 412 where the policy changed meanwhile.",
  identity: "owner",
  headers: { "If-Match": "ETags of the state that is to be replaced, or `*` for any that is stored" },
  request: { params: z.object({}), query: z.object({}), body: policyBodySchema },
  answer: { schema: policySchema, description: "The policy as stored, with its ETag" },
  problems: ["header-malformed", "precondition-failed", "database-unavailable", "internal"],
  async respond(context, { body }, { deps, now }) {
    if (body === null) throw new Error("a body was checked and is absent");
    const ifVersion = versionsToMatch(context.req.header("if-match"));
    const owner = await deps.owners.identify(context.req);
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
