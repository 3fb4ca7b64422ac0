import { z } from "@hono/zod-openapi";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { gatherReportFacts } from "../../reports/diagnosis/report-facts.ts";
import type { TransferReader } from "../../reports/profit-and-loss/wallet-transfers.ts";
import { washWallet } from "../../reports/wash/wash.ts";
import { addressParams } from "../address-schema.ts";
import { definePaid } from "../endpoint.ts";
import { noteInterest } from "../wallet-ports.ts";
import { type ReportPorts, readReport, requireReadable } from "../wallet-report.ts";
import { ninetyDays } from "./get-health.ts";
import { WASH_EXAMPLE } from "./post-wash-example.ts";
import { renderWash } from "./post-wash-render.ts";
import { type WashAnswer, washSchema } from "./post-wash-schema.ts";

export type PostWashPorts = ReportPorts & {
  readonly walletTransfers: TransferReader;
  readonly policy: Policy;
};

/** POST /wash/{address}. */
export const postWash = definePaid({
  method: "post",
  path: "/wash/{address}",
  price: 500,
  tag: "Reports",
  summary: "Cleanliness of a wallet",
  description:
    "Looks for dust, spam, tokens that nobody vouches for, approvals at risk, delegated code, self-dealing and circular transfers, and makes a score of 0 to 100 whose deductions are shown and add up. Only what the wallet itself did takes points: what others send it is listed and takes nothing. Every issue has a severity and an action. Nothing is changed on chain; the request has no body.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: washSchema, example: WASH_EXAMPLE, description: "The report" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }: { deps: PostWashPorts; now: Date }) =>
    requireReadable(params.address, deps, now),
  async work({ params: { address } }, _prepared, { deps }): Promise<WashAnswer> {
    const source = await readReport(address, deps);
    const { timestamp, blockNumber } = source.asOf;
    const since = timestamp - deps.policy.window.days * SECONDS_PER_DAY;
    const query = { wallet: address, throughBlock: blockNumber, since };
    const { walletTransfers } = deps;
    const [exchanges, received, drawnTokens] = await Promise.all([
      walletTransfers.exchanges(query),
      walletTransfers.received(query),
      walletTransfers.drawnTokens(ninetyDays(address, source)),
    ]);
    noteInterest(address, deps);
    const facts = gatherReportFacts(source, deps.policy);
    return renderWash(facts, washWallet(facts, { exchanges, received, drawnTokens }));
  },
});
