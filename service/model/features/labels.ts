import { NANO } from "../score/fixed-point.ts";
import type { Pattern } from "../score/record.ts";
import { shareWords, succeededWords, successWords, tallyCalls } from "./call-tally.ts";
import type { Facts } from "./facts.ts";
import { SECONDS_PER_DAY } from "./time.ts";

/** What is worth saying of a wallet and costs it nothing; `untroubled` if no pattern that costs points was found. */
export function findLabels(facts: Facts, untroubled: boolean): readonly Pattern[] {
  const silent = zombie(facts);
  if (silent !== null) return [silent];
  return [recoveryInProgress(facts), untroubled ? healthyOperator(facts) : null].filter(
    (found) => found !== null,
  );
}

/** Its services answer, but the wallet has been silent; by the last answer seen, so that waiting alone changes nothing. */
function zombie({ rows, history, policy }: Facts): Pattern | null {
  const last = history.calls.at(-1);
  if (rows.servicesUpAt === null || last === undefined) return null;
  const days = Math.floor((rows.servicesUpAt - last.timestamp) / SECONDS_PER_DAY);
  if (days < policy.patterns.zombie.silentDays) return null;
  return label("zombie", `its services answered ${days} days after its last call`);
}

/** Worse over the window than of late. */
function recoveryInProgress(facts: Facts): Pattern | null {
  const { success, policy } = facts;
  const { wholeBelow, recentFrom } = policy.patterns.recoveryInProgress;
  if (success.whole >= wholeBelow || success.recent < recentFrom) return null;
  return label("recovery_in_progress", successWords(facts));
}

/** On no list, with enough evidence of dealing with independent parties and no listed ones, and nearly all of it good. */
function healthyOperator({ rows, history, success, exposedShare, policy }: Facts): Pattern | null {
  if (rows.sanctions.length > 0) return null;
  const { steadyFrom, minWeight } = policy.patterns.healthyOperator;
  const { unproven, exposure } = policy.caps;
  if (success.steady < steadyFrom || history.evidence < minWeight * NANO) return null;
  if (history.credited < unproven.creditedShareBelow * history.totalWeight) return null;
  if (exposure.some(({ from }) => exposedShare >= from)) return null;
  return label(
    "healthy_operator",
    `${succeededWords(tallyCalls(history.outside))} succeeded; estimated success ${shareWords(success.steady)}`,
  );
}

function label(name: string, evidence: string): Pattern {
  return { name, severity: "info", effect: 0, evidence };
}
