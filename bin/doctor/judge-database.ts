import type { QueueAge, RoleFacts, ServerFacts } from "../../service/db/operation-facts.ts";
import type { QuarantineFacts } from "../../service/db/quarantine.ts";
import { concern, fault, fine, type Verdict } from "./finding.ts";

/** Versions that the tests run on, and those that the statements need. */
const [BEST_MAJOR, LEAST_MAJOR] = [18, 14];

/** Whether PostgreSQL is one that our statements are made for. */
export function judgeVersion({ version, user }: Pick<ServerFacts, "version" | "user">): Verdict {
  const major = Math.floor(version / 10_000);
  const detail = `PostgreSQL ${major}, as ${user}`;
  if (major < LEAST_MAJOR) return fault(detail, `move to PostgreSQL ${BEST_MAJOR}`);
  if (major < BEST_MAJOR)
    return concern(detail, `tested on ${BEST_MAJOR}: plan the move before you rely on it`);
  return fine(detail);
}

/** Whether this code and the database's schema are of one version. */
export function judgeMigrations({ applied, known }: ServerFacts["migrations"]): Verdict {
  const detail = `${applied} of ${known} migrations`;
  if (applied < known) return fault(detail, 'run "ahs migrate" as the owner of the schema ahs');
  if (applied > known)
    return concern(detail, "the database is newer than this code: bring the processes to its version");
  return fine(detail);
}

/** Whether processes run with no more rights than they need, and have those. */
export function judgeRoles(facts: RoleFacts, isLocal: boolean): Verdict {
  const missing = facts.roles.filter(({ exists }) => !exists).map(({ role }) => role);
  if (missing.length > 0) {
    const detail = `no role ${missing.join(", ")}: every process may do everything`;
    return isLocal ? fine(detail) : concern(detail, 'run "ahs migrate --roles" and read docs/database.md');
  }
  if (facts.lacking.length > 0) {
    const [first, ...more] = facts.lacking;
    const others = more.length === 0 ? "" : ` and ${more.length} more`;
    return fault(
      `rights are missing of ${first}${others}`,
      'run "ahs migrate" as the owner of the schema ahs',
    );
  }
  const own = facts.roles.filter(({ isMember }) => isMember).map(({ role }) => role);
  if (facts.ownsAll) return fine("every role has its rights; this user owns the tables, as operators do");
  if (own.length === 0)
    return fault("this user is a member of no role", "grant it ahs_index, ahs_serve or ahs_work");
  return fine(`every role has its rights; this user is of ${own.join(", ")}`);
}

/** Seconds that work may be overdue before somebody should look, and before nothing seems to do it. */
const [LATE, STUCK] = [300, 3_600];

/** Whether somebody takes what waits in a queue. */
export function judgeQueue(name: string, { waiting, overdueSeconds }: QueueAge): Verdict {
  const age = Math.round(overdueSeconds);
  const detail =
    waiting === 0 ? `${name}: empty` : `${name}: ${waiting} waiting, the longest due for ${age} s`;
  const advice = `see that "ahs work" runs, and what its log says of ${name}`;
  if (overdueSeconds > STUCK) return fault(detail, advice);
  return overdueSeconds > LATE ? concern(detail, advice) : fine(detail);
}

/** Whether any work is being left out for its errors, a verdict for each kind of work. */
export function judgeQuarantine(facts: readonly QuarantineFacts[]): readonly Verdict[] {
  if (facts.length === 0) return [fine("no item is quarantined")];
  return facts.map(({ kind, count, oldest }) =>
    concern(
      `${kind}: ${count} quarantined, the oldest ${oldest.subject} since ${oldest.since.toISOString()}, ${oldest.failures} failures: ${oldest.error}`,
      `all others are worked on; correct the cause, then "ahs quarantine retry ${kind}" has them tried at once`,
    ),
  );
}

/** Seconds that clocks may differ: signatures of webhooks, sign-ins and payments are good for minutes. */
const [SKEW, FAR_APART] = [5, 60];

/** Whether two clocks agree; `seconds` that the other one is ahead. */
export function judgeSkew(whose: string, seconds: number): Verdict {
  const detail = `${whose} is ${Math.abs(Math.round(seconds))} s ${seconds < 0 ? "behind" : "ahead of"} this machine`;
  const advice = "have all machines follow one time (NTP)";
  if (Math.abs(seconds) > FAR_APART) return fault(detail, advice);
  return Math.abs(seconds) > SKEW ? concern(detail, advice) : fine(`${whose} agrees with this machine`);
}
