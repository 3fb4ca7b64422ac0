import { writeFileSync } from "node:fs";
import { seededRandom } from "../../devnet/population/random.ts";
import { PANEL_VERSION } from "../../service/verification/panel/policy.ts";
import { fitThresholds } from "./fit-thresholds.ts";
import { importPairs } from "./import-pairs.ts";
import type { Options } from "./options.ts";
import { parseLines, type Rows, reportFaults } from "./read-lines.ts";
import { type RecordedCase, recordedCase } from "./recorded-case.ts";
import { renderFit, renderReplay } from "./render-panel-results.ts";
import { measureReplay, replay } from "./replay.ts";
import { fitResults, replayResults } from "./replay-results.ts";
import { linesOf } from "./run-live.ts";

/** A full line of 30 criteria has about 2,000 bytes. */
const MAX_LINE_BYTES = 16 * 2 ** 10;

/** Decides recorded judgments again and prints the measures. Returns the number of cases without a verdict. Throws if none can be read. */
export function runReplay(options: Extract<Options, { mode: "replay" | "import" }>): number {
  const { rows: read, faults } = readRecorded(options);
  reportFaults(faults, options.isStrict);
  const { releasedUsd } = options;
  const rows = releasedUsd === null ? read : read.map((one) => ({ ...one, released_usd: releasedUsd }));
  if (rows.length === 0) throw new Error("There is no case to replay");
  if (options.record !== undefined) writeFileSync(options.record, linesOf(rows), { flag: "wx" });
  const cases = replay(rows);
  const measures = measureReplay(cases, seededRandom(options.seed));
  const sources = [...new Set(rows.map(({ source }) => source))];
  process.stdout.write(`Replay of ${rows.length} cases by ${PANEL_VERSION}, ${faults.length} left out\n`);
  process.stdout.write(`Source: ${sources.join("; ")}\n\n${renderReplay(cases, measures)}\n`);
  const fit = fitOf(rows, options);
  if (fit !== null) process.stdout.write(`\n${renderFit(fit)}\n`);
  if (options.json !== undefined) {
    const given = { seed: options.seed, sources, left_out: faults.length };
    const results = { ...given, ...(fit && { fit: fitResults(fit) }), ...replayResults(cases, measures) };
    writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
  }
  return measures.broken;
}

function fitOf(
  rows: readonly RecordedCase[],
  { fitCosts, seed }: Extract<Options, { mode: "replay" | "import" }>,
) {
  if (fitCosts === null) return null;
  return fitThresholds(rows, { costs: fitCosts, seed, random: seededRandom(`fit ${seed}`) });
}

function readRecorded(options: Extract<Options, { mode: "replay" | "import" }>): Rows<RecordedCase> {
  if (options.mode === "import") return importPairs(options.files, options);
  return parseLines(options.text, { name: options.file, schema: recordedCase, maxLineBytes: MAX_LINE_BYTES });
}
