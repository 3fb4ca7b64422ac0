import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { AHS_2026_2 } from "../service/model/score/policy.ts";
import { USUAL_CROWD } from "./background.ts";
import { evaluateSeed } from "./evaluate-seed.ts";
import { renderResults } from "./render-results.ts";
import { summarise } from "./results.ts";

/**
 * `npm run eval [-- --seeds N] [-- --seed TEXT]… [-- --json FILE]`: what the model makes of simulated worlds. Seeds are
 * drawn anew at each run unless given. Exit code 1 when a bar is missed.
 */
const SIZE = { perTier: 24, drifters: 1_500, crowd: USUAL_CROWD, lives: 6, mostPerDay: 600 };

const USAGE = `Usage: npm run eval [-- --seeds N] [-- --seed TEXT]... [-- --json FILE]
What the model makes of simulated worlds. Seeds are drawn anew at each run unless given; exit code 1 when a bar is missed.`;

const values = parse();
if (values === null) process.exit(2);
const seeds = values.seed ?? drawSeeds(Number(values.seeds));
const outcomes = seeds.map((seed, position) => {
  const started = performance.now();
  const outcome = evaluateSeed(seed, { policy: AHS_2026_2, size: SIZE });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stderr.write(`seed ${seed}, ${position + 1} of ${seeds.length}: ${seconds} s\n`);
  return outcome;
});
const results = summarise(outcomes, AHS_2026_2);
process.stdout.write(`${renderResults(results)}\n`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
for (const { name, value, bar, holds } of results.bars) {
  if (!holds)
    process.stdout.write(
      `\nMissed: ${name} is ${value === null ? "not scored" : value.toFixed(3)}, asked for ${bar}.`,
    );
}
process.stdout.write(results.holds ? "\nEvery bar holds.\n" : "\n");
process.exitCode = results.holds ? 0 : 1;

/** Null, with what was wrong on standard error, for options that do not fit. */
function parse() {
  try {
    const { values: given } = parseArgs({
      options: {
        seed: { type: "string", multiple: true },
        seeds: { type: "string", default: "3" },
        json: { type: "string" },
      },
    });
    if (/^[1-9]\d?$/.test(given.seeds)) return given;
    process.stderr.write(`expected from 1 to 99 seeds, got "${given.seeds}"\n${USAGE}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`);
  }
  return null;
}

function drawSeeds(count: number): readonly string[] {
  return Array.from({ length: count }, () => randomBytes(4).toString("hex"));
}
