import { parseArgs } from "node:util";
import { parseConfig } from "../../bin/config.ts";
import type { PanelSettings } from "../../bin/panel-settings.ts";
import { type Costs, DEFAULT_COSTS } from "./fit-thresholds.ts";
import { IMPORTS, type JudgeFile, ORDERS } from "./import-pairs.ts";
import { type LabelledCase, ownCases, readCases } from "./labelled-case.ts";
import { readBounded } from "./read-lines.ts";

export const USAGE = `Usage: npm run eval:panel -- [--cases FILE] [--record FILE] [--batch] [--json FILE]
       npm run eval:panel -- --replay FILE [--fit [--costs ALLOW,REJECT,HOLD]] [--released USD] [--seed TEXT] [--strict] [--json FILE]
       npm run eval:panel -- --import ${IMPORTS.join("|")} --judgments FILE (3 or 4 times) [--order ${ORDERS.join("|")}]
                             [--second-model] [--record FILE] [--fit …] [--released USD] [--seed TEXT] [--strict] [--json FILE]
       npm run eval:panel -- --attacks own|FILE (repeated) [--benign own|FILE (repeated)] [--strict] [--json FILE]
What the panel makes of labelled cases: on the models that PANEL_BASE_URL and PANEL_MODEL name, or of recorded judgments without any model.
--batch asks by the server's batch interface, --record keeps the judgments, --replay decides them again, --fit looks for better thresholds. Exit code 1 when a case came to no verdict.`;

type Common = {
  readonly json: string | undefined;
  /** A new file for the judgments. */
  readonly record: string | undefined;
};

type Replayed = Common & {
  readonly seed: string;
  readonly isStrict: boolean;
  /** Costs to fit thresholds by; null without a fit. */
  readonly fitCosts: Costs | null;
  /** US dollars that every case is taken to release; null leaves what the cases say. */
  readonly releasedUsd: number | null;
};

/** Name of the texts of this repository, in place of a file. */
export const OWN = "own";

/** One command, with the files that it reads. */
export type Options =
  | (Common & {
      readonly mode: "live";
      readonly cases: readonly LabelledCase[];
      readonly config: PanelSettings | null;
      /** Whether questions go through the server's batch interface. */
      readonly isBatch: boolean;
    })
  | {
      readonly mode: "attacks";
      /** Files, or `own`. */
      readonly attacks: readonly string[];
      readonly benign: readonly string[];
      readonly isStrict: boolean;
      readonly json: string | undefined;
    }
  | (Replayed & { readonly mode: "replay"; readonly file: string; readonly text: string })
  | (Replayed & {
      readonly mode: "import";
      readonly kind: (typeof IMPORTS)[number];
      readonly order: (typeof ORDERS)[number];
      /** Whether the third file is of another model than the others. */
      readonly hasSecondModel: boolean;
      readonly files: readonly JudgeFile[];
    });

/** Reads options and files. Throws with what is wrong. */
export function readOptions(args: string[], env: NodeJS.ProcessEnv): Options {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args,
    options: {
      cases: text,
      json: text,
      record: text,
      replay: text,
      import: text,
      order: text,
      seed: text,
      judgments: { type: "string", multiple: true },
      attacks: { type: "string", multiple: true },
      benign: { type: "string", multiple: true },
      strict: { type: "boolean" },
      fit: { type: "boolean" },
      costs: text,
      released: text,
      "second-model": { type: "boolean" },
      batch: { type: "boolean" },
    },
  });
  const { json, record, replay, seed = "1", judgments = [], strict: isStrict = false } = values;
  if (values.attacks !== undefined) {
    refuse("--attacks", values, NOT_WITH_ATTACKS);
    return { mode: "attacks", attacks: values.attacks, benign: values.benign ?? [OWN], isStrict, json };
  }
  refuse("Without --attacks a run", values, ["benign"]);
  if (values.costs !== undefined && values.fit === undefined) throw new Error("--costs goes with --fit");
  const fitCosts = values.fit === true ? costsOf(values.costs) : null;
  const releasedUsd = values.released === undefined ? null : usdOf(values.released);
  const replayed = { json, record, seed, isStrict, fitCosts, releasedUsd };
  if (replay !== undefined || values.import !== undefined) refuse("A run without models", values, ["batch"]);
  if (replay !== undefined) {
    refuse("--replay", values, ["cases", "record", "import", "order", "judgments", "second-model"]);
    return { mode: "replay", ...replayed, file: replay, text: readBounded(replay) };
  }
  if (values.import !== undefined) {
    refuse("--import", values, ["cases"]);
    return {
      mode: "import",
      ...replayed,
      kind: oneOf("--import", values.import, IMPORTS),
      order: oneOf("--order", values.order ?? "both", ORDERS),
      hasSecondModel: values["second-model"] === true,
      files: judgments.map((name) => ({ name, text: readBounded(name) })),
    };
  }
  refuse("A run on models", values, [
    ...["order", "judgments", "seed", "strict", "fit", "released", "second-model"],
  ]);
  const cases = values.cases === undefined ? ownCases() : readCases(values.cases);
  const isBatch = values.batch === true;
  return { mode: "live", json, record, cases, isBatch, config: parseConfig(env).panel };
}

const NOT_WITH_ATTACKS = [
  ...["cases", "record", "replay", "import", "order", "judgments", "seed", "fit", "costs", "batch"],
];

function refuse(mode: string, values: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  const given = names.filter((name) => values[name] !== undefined).map((name) => `--${name}`);
  if (given.length > 0) throw new Error(`${mode} takes no ${given.join(", ")}`);
}

/** Three costs, of which a false ALLOW has the greatest. */
function costsOf(given: string | undefined): Costs {
  if (given === undefined) return DEFAULT_COSTS;
  const [falseAllow, falseReject, hold, ...more] = given
    .split(",")
    .map((cost) => (/^\d{1,6}(\.\d{1,6})?$/.test(cost) ? Number(cost) : undefined));
  const isComplete = falseAllow !== undefined && falseReject !== undefined && hold !== undefined;
  if (!isComplete || more.length > 0 || falseAllow <= falseReject) {
    throw new Error(
      `--costs is "${given}", expected three numbers such as 10,4,1, the first above the second`,
    );
  }
  return { falseAllow, falseReject, hold };
}

function usdOf(given: string): number {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(given))
    throw new Error(`--released is "${given}", expected US dollars such as 100`);
  return Number(given);
}

function oneOf<Name extends string>(option: string, given: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === given);
  if (found === undefined) throw new Error(`${option} is "${given}", expected ${names.join(" or ")}`);
  return found;
}
