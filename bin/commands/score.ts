import { parseArgs } from "node:util";
import { type Address, getAddress, isAddress } from "viem";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { AHS_2026_1 } from "../../service/model/score/policy.ts";
import { gradeLabel, type ScoreRecord } from "../../service/model/score/record.ts";
import { compareOnSnapshot } from "../../service/scores/compare-policies.ts";
import { type ScoringContext, scoreAtFinalized } from "../../service/scores/score-wallets.ts";
import type { Invocation } from "../command.ts";
import { requireIndexSettings } from "../config.ts";
import { createLogger, openProcessDatabase } from "../process.ts";
import { comparePolicies } from "../score/compare-records.ts";
import { explainRecord } from "../score/explain-record.ts";
import { readPolicy } from "../score/read-policy.ts";

/** What `ahs score --help` shows. */
export const USAGE = `Usage: ahs score ADDRESS [--explain]
       ahs score --policy FILE --compare [ADDRESS...]`;

/**
 * `ahs score`: what the model says of a wallet at the newest finalized and enriched block; --explain lists every line,
 * --policy FILE --compare what another policy would move. Stores nothing.
 */
export async function score({ config, args, out }: Invocation): Promise<void> {
  const wanted = parse(args);
  const { deploymentFile } = requireIndexSettings(config);
  const deployment = loadDeployment(deploymentFile);
  const db = openProcessDatabase(config, "ahs-score", createLogger(config, "score"));
  const context = { db, chainId: deployment.chainId, chain: deployment, policy: AHS_2026_1 };
  try {
    const lines = wanted.kind === "compare" ? await compare(context, wanted) : await explain(context, wanted);
    for (const line of lines) out(line);
  } finally {
    await db.$client.end();
  }
}

type Wanted =
  | { readonly kind: "explain"; readonly wallet: Address; readonly whole: boolean }
  | { readonly kind: "compare"; readonly policyFile: string; readonly wallets: readonly Address[] };

function parse(args: readonly string[]): Wanted {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      explain: { type: "boolean", default: false },
      compare: { type: "boolean", default: false },
      policy: { type: "string" },
    },
    allowPositionals: true,
  });
  const wallets = positionals.map(toWallet);
  if (values.compare !== (values.policy !== undefined))
    throw new Error(`--policy and --compare go together\n${USAGE}`);
  if (values.policy !== undefined) {
    if (values.explain) throw new Error(`--explain and --compare do not go together\n${USAGE}`);
    return { kind: "compare", policyFile: values.policy, wallets };
  }
  const [wallet, ...more] = wallets;
  if (wallet === undefined || more.length > 0)
    throw new Error(`expected one address, got "${positionals.join(" ")}"\n${USAGE}`);
  return { kind: "explain", wallet, whole: values.explain };
}

/** The index holds addresses in lower case. */
function toWallet(given: string): Address {
  if (!isAddress(given, { strict: given !== given.toLowerCase() }))
    throw new Error(`expected an address, got "${given}"\n${USAGE}`);
  return given.toLowerCase() as Address;
}

async function explain(
  context: ScoringContext,
  { wallet, whole }: Wanted & { readonly kind: "explain" },
): Promise<readonly string[]> {
  const scored = await scoreAtFinalized(context, [wallet]);
  if (scored === null) throw new Error("no block is both final and enriched yet");
  const record = scored.records[0]?.record;
  if (record === undefined) throw new Error(`the index does not follow ${getAddress(wallet)}`);
  return [summaryOf(record), ...(whole ? ["", ...explainRecord(record, context.policy)] : [])];
}

async function compare(
  context: ScoringContext,
  { policyFile, wallets }: Wanted & { readonly kind: "compare" },
): Promise<readonly string[]> {
  const other = readPolicy(policyFile, context.policy);
  const compared = await compareOnSnapshot(context, {
    other,
    wallets: wallets.length === 0 ? null : wallets,
  });
  if (compared === null) throw new Error("no block is both final and enriched yet");
  const { asOf, pairs } = compared;
  return [`${pairs.length} wallets as of block ${asOf.blockNumber}`, "", ...comparePolicies(pairs)];
}

function summaryOf({
  wallet,
  modelVersion,
  asOf,
  outcome,
  confidenceMicros,
  confidenceLevel,
}: ScoreRecord): string {
  const confidence = `confidence ${(confidenceMicros / 1_000_000).toFixed(3)} ${confidenceLevel}`;
  const points =
    outcome.kind === "insufficient"
      ? gradeLabel(null)
      : `AHS ${outcome.ahsScore} ${outcome.grade} (${gradeLabel(outcome.grade)}), D1 ${outcome.d1Score}, D2 ${outcome.d2Score}`;
  return `${getAddress(wallet)}: ${points}, ${confidence}; ${modelVersion} as of block ${asOf.blockNumber}`;
}
