import { clockFault } from "../../service/db/database-clock.ts";
import { freshnessOf, type IndexHead } from "../../service/db/index-snapshot.ts";
import type { DatabaseUse, QueueAge, RoleFacts, ServerFacts } from "../../service/db/operation-facts.ts";
import type { QuarantineFacts } from "../../service/db/quarantine.ts";
import type { SourceStatus } from "../../service/sanctions/sources.ts";
import type { TokenFinding } from "../../service/verification/panel/find-read-token.ts";
import { NOT_KNOWN } from "../work/token-findings.ts";
import { concern, fault, fine, unseen, type Verdict } from "./run-checks.ts";

/** Whether the index follows the chain, by its newest block; null where it holds none. */
export function judgeIndex(head: IndexHead | null, bound: Parameters<typeof freshnessOf>[1]): Verdict {
  if (head === null)
    return fault("the index holds no block", 'start "ahs index", or wait for its first pass');
  const { ok, detail } = freshnessOf(head, bound);
  return ok ? fine(detail) : fault(detail, 'see that "ahs index" runs, and its log');
}

/** Seconds after which the imported list should have been renewed, and must have been. */
const [OLD_LIST, STALE_LIST] = [2 * 86_400, 14 * 86_400];

/** Whether a source of sanctions is up to date; `isOnly` if it is the only source. */
export function judgeSanctions(source: SourceStatus, ageSeconds: number | null, isOnly: boolean): Verdict {
  const name = source.source;
  if (name === "chainalysis-oracle") {
    const { unchecked } = source;
    if (ageSeconds === null || unchecked === null)
      return concern(`${name}: nothing indexed yet`, 'wait for "ahs index"');
    return unchecked > 0
      ? concern(
          `${name}: ${unchecked} wallets not asked about yet`,
          'see that "ahs work" runs and reaches the node',
        )
      : fine(`${name}: ${source.entries} entries at ${source.edition}`);
  }
  const advice = 'run "ahs sanctions import" daily';
  if (ageSeconds === null) return (isOnly ? fault : concern)(`${name}: never imported`, advice);
  const detail = `${name}: ${source.entries} entries, imported ${Math.floor(ageSeconds / 3_600)} h ago`;
  if (ageSeconds > STALE_LIST) return fault(detail, advice);
  return ageSeconds > OLD_LIST ? concern(detail, advice) : fine(detail);
}

/** Whether the time before the index is read of every followed wallet. */
export function judgePast({ open, followed }: { readonly open: number; readonly followed: number }): Verdict {
  const detail = `${followed - open} of ${followed} followed wallets have their time before the index`;
  return open === 0
    ? fine(detail)
    : concern(detail, 'the worker reads the rest; "ahs warm" shows how far it is');
}

const GB = 1_000_000_000;

/** Whether the disk of a folder has room. */
export function judgeDisk(
  folder: string,
  { freeBytes, totalBytes }: { freeBytes: number; totalBytes: number },
): Verdict {
  const detail = `${folder}: ${(freeBytes / GB).toFixed(1)} of ${(totalBytes / GB).toFixed(1)} GB free`;
  if (freeBytes < GB) return fault(detail, "make room: PostgreSQL stops when its disk is full");
  return freeBytes < 5 * GB ? concern(detail, "make room, or move the folder") : fine(detail);
}

/** Share of PostgreSQL's connections from which new processes may find none. */
const CROWDED = 0.8;

/** Whether PostgreSQL has connections left. */
export function judgeUse({ bytes, connections, maxConnections }: Omit<DatabaseUse, "folder">): Verdict {
  const detail = `${(bytes / GB).toFixed(1)} GB, ${connections} of ${maxConnections} connections`;
  return connections > CROWDED * maxConnections
    ? concern(detail, "raise max_connections, or run fewer processes: each opens up to 20")
    : fine(detail);
}

/** Whether the server of a model reads control tokens within messages, which would let a text open a turn of its own. */
export function judgeTokens(
  finding: TokenFinding,
  { model, mayRead }: { readonly model: string; readonly mayRead: boolean },
): Verdict {
  switch (finding.kind) {
    case "unread":
      return fine(`${model}: no control token is read`);
    case "read": {
      const detail = `${model}: the control token ${finding.token} is read`;
      return mayRead
        ? concern(detail, "PANEL_ALLOW_CONTROL_TOKENS is set: the fence alone breaks tokens")
        : fault(detail, '"ahs work" does not start the panel: choose a server that reads none');
    }
    case "unknown":
      return concern(`${model}: not known if control tokens are read: ${finding.detail}`, NOT_KNOWN);
    case "unavailable":
      return unseen(`${model}: ${finding.detail}`);
  }
}

export type ServiceSettings = {
  readonly isLocal: boolean;
  readonly publicUrl: string | null;
  readonly payTo: string | null;
  readonly hasPanel: boolean;
  readonly hasPublisher: boolean;
  readonly hasReceiptKey: boolean;
  readonly hasTextKey: boolean;
  readonly historySource: string;
  readonly allowRawKeys: boolean;
};

/** Settings that a public service needs and that are missing. */
export function judgeSettings(settings: ServiceSettings): readonly Verdict[] {
  const { isLocal, publicUrl, payTo, hasPanel, hasPublisher, hasReceiptKey, historySource } = settings;
  if (isLocal) return [fine("settings of a local chain")];
  const found = [
    ...(publicUrl === null
      ? [(hasPublisher ? fault : concern)("PUBLIC_URL is not set", "set it: sign-ins and roots name it")]
      : []),
    ...(payTo === null ? [concern("X402_PAY_TO is not set", "set it to sell single calls and keys")] : []),
    ...(hasPanel ? [] : [concern("no model is configured", "set PANEL_BASE_URL to judge outputs")]),
    ...(hasPublisher ? [] : [concern("no publisher's key here", '"ahs work" needs one')]),
    ...(hasReceiptKey
      ? []
      : [concern("RECEIPT_PRIVATE_KEY is not set", "set it to sign receipts of verdicts")]),
    ...(settings.hasTextKey
      ? []
      : [concern("TEXT_ENCRYPTION_KEY is not set", "set it to encrypt stored orders and outputs")]),
    ...(historySource === "none"
      ? [
          concern(
            "no source of history",
            "set HISTORY_SOURCE: paid calls for unknown wallets answer 404 without it",
          ),
        ]
      : []),
    ...(settings.allowRawKeys
      ? [concern("ALLOW_RAW_KEYS is set", "keep keys in keystores or a remote signer: docs/security.md")]
      : []),
  ];
  return found.length === 0 ? [fine("nothing is left out")] : found;
}

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
  if (facts.largeObjects.length > 0)
    return concern(
      `${facts.largeObjects.join(", ")} can fill the disk with large objects`,
      'run "ahs migrate" as a superuser, or the statement of docs/database.md',
    );
  const own = facts.roles.filter(({ isMember }) => isMember).map(({ role }) => role);
  if (facts.ownsAll) return fine("every role has its rights; this user owns the tables, as operators do");
  if (own.length === 0)
    return fault("this user is a member of no role", "grant it ahs_index, ahs_serve or ahs_work");
  return fine(`every role has its rights; this user is of ${own.join(", ")}`);
}

/** Seconds that work may be overdue before a warning, and before no worker seems to do it. */
const [LATE, STUCK] = [300, 3_600];

/** Whether a worker takes the waiting items of a queue. */
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

/** Whether this machine's clock agrees with the database's. */
export function judgeClock(aheadSeconds: number): Verdict {
  const found = clockFault(aheadSeconds);
  if (found === null) return fine("this machine's clock agrees with the database's");
  return fault(found, "have all machines follow one time (NTP)");
}
