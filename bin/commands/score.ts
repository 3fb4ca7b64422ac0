import { parseArgs } from "node:util";
import { type Address, getAddress, isAddress } from "viem";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { scoreAtFinalized } from "../../service/record/score-wallets.ts";
import { gradeLabel } from "../../service/score/grade.ts";
import { AHS_2026_0 } from "../../service/score/policy.ts";
import type { FeatureLine, ScoreRecord } from "../../service/score/record.ts";
import type { Invocation } from "../ahs.ts";
import { requireIndexSettings } from "../config.ts";
import { createLogger, openProcessDatabase } from "../process.ts";
import { renderTable } from "../render-table.ts";

const USAGE = "Usage: ahs score ADDRESS [--explain]";

/** `ahs score`: what the model says of a wallet at the newest finalized block, without storing it; --explain lists every line. */
export async function score({ config, args, out }: Invocation): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { explain: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const [given, ...more] = positionals;
  if (
    given === undefined ||
    more.length > 0 ||
    !isAddress(given, { strict: given !== given.toLowerCase() })
  ) {
    throw new Error(`expected one address, got "${positionals.join(" ")}"\n${USAGE}`);
  }
  const { deploymentFile } = requireIndexSettings(config);
  const { chainId } = loadDeployment(deploymentFile);
  const db = openProcessDatabase(config, "ahs-score", createLogger(config, "score"));
  try {
    // The index holds addresses in lower case.
    const wallet = given.toLowerCase() as Address;
    const scored = await scoreAtFinalized({ db, chainId, policy: AHS_2026_0 }, [wallet]);
    if (scored === null) throw new Error("the index holds no finalized block yet");
    const record = scored.records[0]?.record;
    if (record === undefined) throw new Error(`the index does not follow ${getAddress(wallet)}`);
    out(summaryOf(record));
    if (values.explain) for (const line of explain(record.features)) out(line);
  } finally {
    await db.$client.end();
  }
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

function explain(features: readonly FeatureLine[]): string[] {
  const header = ["part", "line", "value", "unit", "samples", "score", "weight", "points", "why"];
  return renderTable([
    header,
    ...features.map((line) => [
      line.dimension,
      line.name,
      number(line.value, 4),
      line.unit,
      String(line.samples),
      number(line.score, 1),
      number(line.weight, 2),
      line.contribution === null ? "–" : (line.contribution / 100).toFixed(2),
      line.state === "measured" ? (line.reason ?? "") : `${line.state}: ${line.reason ?? ""}`,
    ]),
  ]);
}

function number(value: number | null, digits: number): string {
  return value === null ? "–" : String(Number(value.toFixed(digits)));
}
