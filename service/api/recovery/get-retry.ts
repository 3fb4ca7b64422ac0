import { z } from "@hono/zod-openapi";
import type { Policy } from "../../model/score/policy-shape.ts";
import { NOTHING_BEFORE, recoverFailures } from "../../reports/recovery/recover-failures.ts";
import { addressParams } from "../address-schema.ts";
import { definePaid } from "../endpoint.ts";
import { noteInterest } from "../wallet-ports.ts";
import { type ReportPorts, readReport, requireReadable } from "../wallet-report.ts";
import { RETRY_EXAMPLE } from "./get-retry-example.ts";
import {
  openNode,
  type RecoverPorts,
  requireRecovery,
  requireRecoveryTurn,
  withNode,
} from "./get-retry-node.ts";
import { renderRetry } from "./get-retry-render.ts";
import { retrySchema } from "./get-retry-schema.ts";

export type GetRetryPorts = ReportPorts & RecoverPorts & { readonly policy: Policy };

/** GET /retry/{address}. */
export const getRetry = definePaid({
  method: "get",
  path: "/retry/{address}",
  price: 10_000,
  tag: "Recovery",
  summary: "Failed transactions worth sending again, ready to be signed",
  description:
    "Every transaction that the wallet sent and that failed in the last 30 days. One of the last 14 days is offered again, as an unsigned EIP-1559 transaction of the same value and calldata, unless a later success or a transaction under way does the same: the same calldata at the same account, for a transfer the same token and recipient, for an allowance the same token and spender, for a swap the same two tokens and recipient, whatever router and amounts. Where calldata does not tell what it is for, as with routers that are not known here, any later success of the same method of the same account counts as one that may have done the same, and of several such failures one is offered at a time. The same holds for whatever an EIP-7702 wallet's own code did since. It is offered only if it passes a simulation at the newest indexed block now, and only as far as balance and allowances pay for all offers together; nonces follow those under way. All others are listed with the reason. Of failures from before the index followed the wallet, which a history source told of, the chain's node is asked for the calldata; what it does not know is not_read. Nothing is signed or sent by this service. What deals with sanctioned accounts or mixers, or names one in its calldata, is not offered, nor anything for a wallet that is one, nor for a smart account, which has no key.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: retrySchema, example: RETRY_EXAMPLE, description: "Offers, and what is not offered" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable", "node-unavailable"],
  async check({ params }, { deps, now }: { deps: GetRetryPorts; now: Date }) {
    await requireReadable(params.address, deps, now);
    requireRecoveryTurn(deps);
  },
  prepare: ({ params }, _checked, { deps }) =>
    deps.recoveryTurns.take(async () => {
      await requireRecovery(params.address, deps);
    }),
  // Read anew: between the preparation and the work lies the settlement of the payment.
  async work({ params: { address } }, _, { deps }) {
    const { rows } = await readReport(address, deps);
    const { recovery, recovered } = await deps.recoveryTurns.take(async () => {
      const recovery = await requireRecovery(address, deps);
      const recovered = await withNode(() =>
        recoverFailures(recovery, openNode(deps), { before: NOTHING_BEFORE, policy: deps.policy }),
      );
      return { recovery, recovered };
    });
    noteInterest(address, deps);
    return renderRetry({ rows, recovery, recovered });
  },
});
