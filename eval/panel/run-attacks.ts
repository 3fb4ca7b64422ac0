import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { PANEL_VERSION } from "../../service/verification/panel/policy.ts";
import { casesOf, type NamedCase, ownAttacks, ownBenign, readTexts } from "./attack-texts.ts";
import { measureAttacks, measureTexts } from "./measure-attacks.ts";
import { type Options, OWN } from "./options.ts";
import { reportFaults } from "./read-lines.ts";
import { renderAttacks } from "./render-panel-results.ts";

/** Puts attacks and benign outputs through fences and checks and prints both rates. Asks no model. */
export function runAttacks({ attacks, benign, isStrict, json }: Extract<Options, { mode: "attacks" }>): void {
  // Texts of this repository may hold the marker of their fence, as if they had guessed it.
  const marker = randomBytes(16).toString("hex");
  const faults: string[] = [];
  const read = (files: readonly string[], kind: "attack" | "benign") =>
    files.flatMap((file): readonly NamedCase[] => {
      if (file === OWN) return kind === "attack" ? ownAttacks(marker) : ownBenign(marker);
      const texts = readTexts(file);
      faults.push(...texts.faults);
      return casesOf(texts.rows, { name: basename(file), marker, kind });
    });
  const [hostile, honest] = [read(attacks, "attack"), read(benign, "benign")];
  reportFaults(faults, isStrict);
  if (hostile.length === 0) throw new Error("There is no attack to measure");
  const [attackRows, benignRows] = [measureTexts(hostile), measureTexts(honest)];
  const measures = measureAttacks(attackRows, benignRows);
  process.stdout.write(
    `Fences and checks of ${PANEL_VERSION} without a model, ${faults.length} lines left out\n`,
  );
  process.stdout.write(`${renderAttacks({ attacks: attackRows, benign: benignRows, measures })}\n`);
  if (json === undefined) return;
  const results = { panel_version: PANEL_VERSION, attacks: attackRows, benign: benignRows };
  writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`);
}
