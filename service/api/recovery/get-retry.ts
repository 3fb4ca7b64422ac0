import { z } from "@hono/zod-openapi";
import { NOTHING_BEFORE, recoverFailures } from "../../recover/recover-failures.ts";
import { addressParams } from "../address-schema.ts";
import { definePaid } from "../endpoint.ts";
import { noteInterest } from "../wallet-ports.ts";
import { type ReportPorts, readReport, requireFollowed } from "../wallet-report.ts";
import { RETRY_EXAMPLE } from "./get-retry-example.ts";
import { openNode, type RecoverPorts, requireRecovery, withNode } from "./get-retry-node.ts";
import { listedOf, renderRetry } from "./get-retry-render.ts";
import { retrySchema } from "./get-retry-schema.ts";

export type GetRetryPorts = ReportPorts & RecoverPorts;

/** GET /retry/{address}. */
export const getRetry = definePaid({
  method: "get",
  path: "/retry/{address}",
  price: 10_000,
  tag: "Recovery",
  summary: "Failed transactions worth sending again, ready to be signed",
  description:
    "Every transaction that the wallet sent and that failed in the last 30 days. One of the last 14 days is offered again, as an unsigned EIP-1559 transaction of the same value and calldata, unless a later success or a transaction under way does the same: the same calldata at the same account, for a transfer the same token and recipient, for an allowance the same token and spender, for a swap the same two tokens and recipient, whatever router and amounts. It is offered only if it passes a simulation at the newest indexed block now, and only as far as balance and allowances pay for all offers together; nonces follow those under way. All others are listed with the reason. Nothing is signed or sent by this service. What deals with sanctioned accounts or mixers is not offered, nor anything for a smart account, which has no key.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: retrySchema, example: RETRY_EXAMPLE, description: "Offers, and what is not offered" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable", "node-unavailable"],
  async prepare({ params }, { deps, now }: { deps: GetRetryPorts; now: Date }) {
    await requireFollowed(params.address, deps, now);
    await requireRecovery(params.address, deps);
  },
  // Read anew: between the check and the work lies the settlement of the payment.
  async work({ params: { address } }, _, { deps }) {
    const [{ rows }, recovery] = await Promise.all([
      readReport(address, deps),
      requireRecovery(address, deps),
    ]);
    const recovered = await withNode(() =>
      recoverFailures(recovery, openNode(deps), { before: NOTHING_BEFORE, listed: listedOf(rows) }),
    );
    noteInterest(address, deps);
    return renderRetry({ rows, recovery, recovered });
  },
});
