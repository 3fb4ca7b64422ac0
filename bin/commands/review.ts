import { parseArgs } from "node:util";
import { numberToHex } from "viem";
import { toEip55 } from "../../service/api/schemas/values.ts";
import type { Database } from "../../service/db/database.ts";
import {
  type HeldVerdict,
  listHeldVerdicts,
  recordReview,
} from "../../service/verification/verdicts/review.ts";
import type { Review, ReviewOutcome } from "../../service/verification/verdicts/verdict-result.ts";
import {
  readStoredTexts,
  readVerdict,
  type VerdictView,
} from "../../service/verification/verdicts/verdict-view.ts";
import { actionsOf, indexedDeployment, onlyOne, withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";
import { renderTable } from "../render-table.ts";

type ReviewCommandDeps = {
  readonly db: Database;
  readonly out: (line: string) => void;
  readonly record: (review: Review) => Promise<ReviewOutcome>;
};

/** Usage of `ahs review`. */
export const USAGE = `Usage: ahs review list [--limit NUMBER | --all]
       ahs review show VERDICT_ID
       ahs review decide VERDICT_ID --decision ALLOW|REJECT --reason TEXT [--by NAME]`;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DECISIONS = ["ALLOW", "REJECT"] as const;
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;
/** The user of this command decides for the operator. */
const DEFAULT_REVIEWER = "operator";
const MAX_REASON = 2_000;
const MAX_NAME = 200;

/** `ahs review list|show|decide` on the configured database. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const { chainId } = indexedDeployment(config);
  await withDatabase(config, "review", (db, { now }) => {
    const record = (given: Review) => recordReview({ db, chainId, now }, given);
    return runReview(args, { db, out, record });
  });
}

/** Runs `ahs review …`; throws with what was given and expected when the arguments do not fit. */
export const runReview = actionsOf<ReviewCommandDeps>(USAGE, { list, show, decide });

async function list(args: readonly string[], { db, out }: ReviewCommandDeps): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { limit: { type: "string" }, all: { type: "boolean", default: false } },
  });
  const { verdicts, total } = await listHeldVerdicts(db, limitOf(values));
  if (verdicts.length === 0) return out("no verdict waits for a review");
  const head = ["verdict", "state", "since", "job", "review by", "expires"];
  for (const line of renderTable([head, ...verdicts.map(rowOf)])) out(line);
  if (verdicts.length < total)
    out(`${verdicts.length} of ${total} are shown, the most urgent: --limit NUMBER or --all shows more`);
}

function rowOf({ id, state, since, job, reviewBy, expiresAt }: HeldVerdict): readonly string[] {
  const name = job === null ? "-" : `${job.chainId}:${toEip55(job.escrow)}:${numberToHex(job.jobId)}`;
  const moments = [reviewBy, expiresAt].map((moment) => moment?.toISOString() ?? "-");
  return [id, state, since.toISOString(), name, ...moments];
}

async function show(args: readonly string[], { db, out }: ReviewCommandDeps): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
  const id = idOf(positionals);
  const verdict = await readVerdict(db, id);
  if (verdict === null) throw new Error(`there is no verdict ${id}`);
  for (const line of summaryOf(verdict)) out(printable(line));
  const { specText, acceptanceCriteria, outputText, evidence } = await readStoredTexts(db, id);
  const given = evidence.map(({ text }, index) => [`evidence ${index + 1}`, text] as const);
  const texts = [
    ["specification", specText],
    ["acceptance criteria", acceptanceCriteria],
    ["output", outputText],
    ...given,
  ] as const;
  for (const [name, text] of texts) {
    if (text !== null) out(`\n--- ${name} ---\n${printable(text)}`);
  }
}

function summaryOf({ id, status, result, runs }: VerdictView): readonly string[] {
  const history = runs.map(
    ({ run, cause, finalVerdict, evidenceHash, createdAt }) =>
      `decision ${run}: ${finalVerdict} (${cause}, ${createdAt.toISOString()}, evidence ${evidenceHash})`,
  );
  if (result === null) return [`verdict ${id} is ${status}`, ...history];
  const objections = result.key_objections.map((objection) => `objection: ${objection}`);
  return [
    `verdict ${id} is ${result.final_verdict}: score ${result.final_score ?? "none"}, confidence ${result.confidence ?? "none"}, disagreement ${result.mdi ?? "none"}`,
    ...history,
    `rules that changed the outcome: ${result.methodology.rules_fired.join(", ") || "none"}`,
    ...objections,
    `reasoning: ${result.reasoning}`,
    ...(result.strongest_dissent === null ? [] : [`dissent: ${result.strongest_dissent}`]),
  ];
}

async function decide(args: readonly string[], { out, record }: ReviewCommandDeps): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      decision: { type: "string" },
      reason: { type: "string" },
      by: { type: "string", default: DEFAULT_REVIEWER },
    },
    allowPositionals: true,
  });
  const verdictId = idOf(positionals);
  const decision = DECISIONS.find((known) => known === values.decision);
  if (decision === undefined)
    throw new Error(
      `--decision: expected ${DECISIONS.join(" or ")}, got "${values.decision ?? ""}"\n${USAGE}`,
    );
  const reason = textOf("--reason", values.reason, MAX_REASON);
  const outcome = await record({
    verdictId,
    decision,
    reason,
    reviewedBy: textOf("--by", values.by, MAX_NAME),
  });
  switch (outcome.kind) {
    case "recorded":
      return out(
        `verdict ${verdictId} is ${decision}: decision ${outcome.run}, evidence ${outcome.evidenceHash}`,
      );
    case "not_held":
      throw new Error(`verdict ${verdictId} is ${outcome.finalVerdict}, not HOLD`);
    case "undecided":
      throw new Error(`there is no verdict ${verdictId} that was decided, or failed and is of a job`);
  }
}

/** Removes characters by which a text's author could move the reviewer's cursor or reverse a line. */
function printable(text: string): string {
  return text.replaceAll(/[^\P{C}\n\t]/gu, "\uFFFD");
}

function idOf(positionals: readonly string[]): string {
  const fault = "expected the id of one verdict";
  const id = onlyOne(positionals, fault, USAGE);
  if (!UUID.test(id)) throw new Error(`${fault}, got "${id}"\n${USAGE}`);
  return id.toLowerCase();
}

function textOf(option: string, given: string | undefined, most: number): string {
  const text = given?.trim() ?? "";
  if (text !== "" && text.length <= most) return text;
  throw new Error(`${option}: expected a text of 1 to ${most} characters, got ${text.length}\n${USAGE}`);
}

/** Null: all. */
function limitOf({ limit, all }: { limit?: string | undefined; all: boolean }): number | null {
  if (limit === undefined) return all ? null : DEFAULT_LIMIT;
  if (all) throw new Error(`--limit and --all exclude each other\n${USAGE}`);
  if (!/^[1-9]\d{0,4}$/.test(limit) || Number(limit) > MAX_LIMIT)
    throw new Error(`--limit: expected a whole number from 1 to ${MAX_LIMIT}, got "${limit}"`);
  return Number(limit);
}
