import { z } from "@hono/zod-openapi";
import type { Policy } from "../../model/score/policy-shape.ts";
import { optimizeGas } from "../../reports/diagnosis/optimize.ts";
import { gatherReportFacts } from "../../reports/diagnosis/report-facts.ts";
import { addressParams } from "../address-schema.ts";
import { definePaid } from "../endpoint.ts";
import { noteInterest } from "../wallet-ports.ts";
import { type ReportPorts, readReport, requireReadable } from "../wallet-report.ts";
import { OPTIMIZE_EXAMPLE } from "./get-optimize-example.ts";
import { renderOptimization } from "./get-optimize-render.ts";
import { type OptimizeAnswer, optimizeSchema } from "./get-optimize-schema.ts";

export type GetOptimizePorts = ReportPorts & { readonly policy: Policy };

/** GET /optimize/{address}. */
export const getOptimize = definePaid({
  method: "get",
  path: "/optimize/{address}",
  price: 5000,
  tag: "Reports",
  summary: "Where a wallet's gas goes, and what could have been saved",
  description:
    "By contract and method: calls, failures, gas limits against the gas that 95 % of the successes used, what was paid above the base fee and median tip of each call's own block, and what all of it would save in a month, with its arithmetic. Totals are exact sums in wei. What receipts or feeds do not tell is null, never 0.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: optimizeSchema, example: OPTIMIZE_EXAMPLE, description: "The report" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }: { deps: GetOptimizePorts; now: Date }) =>
    requireReadable(params.address, deps, now),
  async work({ params: { address } }, _prepared, { deps }): Promise<OptimizeAnswer> {
    const facts = gatherReportFacts(await readReport(address, deps), deps.policy);
    noteInterest(address, deps);
    return renderOptimization(facts, optimizeGas(facts));
  },
});
