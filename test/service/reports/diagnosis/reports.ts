import type { WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { gatherReportFacts, type ReportFacts } from "../../../../service/reports/diagnosis/report-facts.ts";
import { asOfLast, callsOf, rowsOf, type Step } from "../../model/features/histories.ts";

/** Facts of reports about these rows, an hour after the last call. */
export function factsOf(rows: WalletRows): ReportFacts {
  return gatherReportFacts({ rows, asOf: asOfLast(rows.calls) }, AHS_2026_2);
}

/** The same of the wallet that made these calls. */
export function factsOfSteps(steps: readonly Step[], parts: Partial<WalletRows> = {}): ReportFacts {
  return factsOf(rowsOf(callsOf(steps), parts));
}
