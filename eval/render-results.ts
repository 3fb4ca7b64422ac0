import type { FeatureValue } from "./feature-value.ts";
import type { ArchetypeResult, AttackResult } from "./result-rows.ts";
import type { PriceResult, Results } from "./results.ts";

/** The whole of an evaluation as text tables for a terminal. */
export function renderResults(results: Results): string {
  return [
    `Model ${results.model_version}, seeds ${results.seeds.join(", ")}`,
    section("Archetypes", archetypeRows(results.archetypes)),
    section("Seeds", seedRows(results)),
    section("Baselines out of sample", baselineRows(results)),
    section("Features out of sample, means of the seeds", featureRows(results)),
    section(
      "Honest and harmful kinds; in the last four columns without account facts",
      characterRows(results),
    ),
    section("Trust", trustRows(results)),
    section(
      `Attacks, in dollars at ${results.stated.gas_price_gwei} gwei and ${results.stated.native_usd} USD`,
      attackRows(results.attacks),
    ),
    section("Cheapest clean record that buys a grade", priceRows(results.prices)),
    section("Bars", barRows(results)),
  ].join("\n\n");
}

/** Columns set under each other: numbers to the right, words to the left. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return /^[-\d.,–%$]/.test(cell) ? cell.padStart(width) : cell.padEnd(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** A figure with three decimals, or a dash for none. */
export function figure(value: number | null, decimals = 3): string {
  return value === null ? "–" : value.toFixed(decimals);
}

/** Dollars to the cent, or to a tenth of it below ten cents. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 0.1 ? 3 : 2)}`;
}

/** Counts such as "A 20, B 4". */
export function counts(of: Readonly<Partial<Record<string, number>>>): string {
  const named = Object.entries(of).map(([name, count]) => `${name} ${count}`);
  return named.length === 0 ? "–" : named.join(", ");
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  return `${title}\n${table(rows)}`;
}

function archetypeRows(archetypes: readonly ArchetypeResult[]): readonly string[][] {
  return [
    ["archetype", "tier", "wallets", "median", "p10–p90", "insufficient", "confidence", "grades"],
    ...archetypes.map(({ name, tier, wallets, insufficient, median, p10, p90, confidence, grades }) => [
      name,
      tier === null ? "–" : String(tier),
      String(wallets),
      figure(median, 0),
      `${figure(p10, 0)}–${figure(p90, 0)}`,
      String(insufficient),
      figure(confidence, 2),
      counts(grades),
    ]),
  ];
}

function seedRows({ by_seed }: Results): readonly string[][] {
  return [
    [
      "seed",
      "order",
      "1-2",
      "2-3",
      "3-4",
      "4-5",
      "band",
      "from",
      "failing",
      "auc",
      "success",
      "age",
      "losing",
      "auc",
      "success",
      "age",
    ],
    ...by_seed.map(
      ({ seed, pairwise_order, neighbours, worst_band, out_of_sample: { failure, loss, ...out } }) => [
        seed,
        figure(pairwise_order),
        ...neighbours.map((share) => figure(share, 2)),
        figure(worst_band.share, 2),
        String(worst_band.from),
        figure(out.share_failing, 2),
        ...[failure.score, failure.success_rate, failure.account_age].map((area) => figure(area)),
        figure(out.share_losing, 2),
        ...[loss.score, loss.success_rate, loss.account_age].map((area) => figure(area)),
      ],
    ),
  ];
}

function attackRows(attacks: readonly AttackResult[]): readonly string[][] {
  return [
    [
      "attack",
      "grade",
      "ahs",
      "confidence",
      "level",
      "calls",
      "gas",
      "cost",
      "route",
      "amount",
      "safe",
      "spent",
      "bar",
    ],
    ...attacks.map(
      ({ name, grade, ahs, confidence, confidence_level, calls, gas, usd, bar, holds, ...backing }) =>
        bar === "unchanged"
          ? [name, ...Array.from({ length: 11 }, () => "–"), holds ? "unchanged" : "MISSES: record changed"]
          : [
              name,
              grade ?? "none",
              figure(ahs, 0),
              figure(confidence, 2),
              confidence_level,
              String(calls),
              String(gas),
              dollars(usd),
              backing.route ?? "–",
              instantAmount(backing),
              dollars(backing.safe_usd),
              dollars(backing.burnt_usd),
              verdict(bar, holds),
            ],
    ),
  ];
}

/** Amount that is settled at once with the wallets of an attack together. */
export function instantAmount({
  route,
  unlimited,
  safe_usd,
}: Pick<AttackResult, "route" | "unlimited" | "safe_usd">): string {
  if (unlimited) return "any";
  return route === "instant_settle" ? dollars(safe_usd) : "none";
}

function baselineRows({ by_seed }: Results): readonly string[][] {
  return [
    ["seed", "outcome", "ahs", "ewma 14 d", "success", "mean of features", "gas alone", "lead"],
    ...by_seed.flatMap(({ seed, lead_failing, lead_losing, out_of_sample: { failure, loss } }) =>
      (
        [
          ["failing", failure, lead_failing],
          ["losing", loss, lead_losing],
        ] as const
      ).map(([outcome, areas, lead]) => [
        seed,
        outcome,
        ...[areas.score, areas.ewma_success, areas.success_rate].map((area) => figure(area)),
        ...[areas.mean_of_features, areas.gas_efficiency, lead].map((area) => figure(area)),
      ]),
    ),
  ];
}

function featureRows(results: Results): readonly string[][] {
  return [
    ["feature", "measured", "failing alone", "without", "losing alone", "without", "rho with success"],
    ...meanFeatures(results).map(({ name, measured, alone, without, with_success }) => [
      name,
      figure(measured, 2),
      ...[alone.failing, without.failing, alone.losing, without.losing, with_success].map((area) =>
        figure(area),
      ),
    ]),
  ];
}

/** Value of each feature, as means over the seeds that have a figure. */
export function meanFeatures({ by_seed }: Results): readonly FeatureValue[] {
  const all = by_seed.map(({ out_of_sample }) => out_of_sample.features);
  return (all[0] ?? []).map((first, place) => {
    const mean = (of: (value: FeatureValue) => number | null): number | null => {
      const figures = all.flatMap((features) => {
        const value = features[place];
        const figureOf = value === undefined ? null : of(value);
        return figureOf === null ? [] : [figureOf];
      });
      return figures.length === 0 ? null : figures.reduce((sum, value) => sum + value, 0) / figures.length;
    };
    return {
      ...first,
      measured: mean(({ measured }) => measured) ?? 0,
      alone: { failing: mean(({ alone }) => alone.failing), losing: mean(({ alone }) => alone.losing) },
      without: {
        failing: mean(({ without }) => without.failing),
        losing: mean(({ without }) => without.losing),
      },
      with_success: mean(({ with_success }) => with_success),
    };
  });
}

function characterRows({ characters }: Results): readonly string[][] {
  return [
    [
      "kind",
      "worth",
      "wallets",
      "median",
      "none",
      "rejected",
      "instant",
      "safe",
      "grades",
      "none",
      "rejected",
      "grades",
    ],
    ...characters.map(
      ({ name, worth, wallets, median, unscored, rejected, instant, safe_usd, grades, without_facts }) => [
        name,
        worth ?? "harm",
        String(wallets),
        figure(median, 0),
        ...[unscored, rejected, instant].map((share) => figure(share, 2)),
        dollars(safe_usd ?? 0),
        counts(grades),
        figure(without_facts.unscored, 2),
        figure(without_facts.rejected, 2),
        counts(without_facts.grades),
      ],
    ),
  ];
}

function trustRows({ by_seed }: Results): readonly string[][] {
  return [
    [
      "seed",
      "honest over forged",
      "by score",
      "rejected",
      "no facts",
      "unscored",
      "no facts",
      "harmful unlimited",
      "safe / spent",
      "instant after",
      "D2 correlation",
      "between",
    ],
    ...by_seed.map(({ seed, trust, out_of_sample: { d2_correlation } }) => [
      seed,
      figure(trust.honest_over_forged_auc),
      figure(trust.honest_over_forged_by_score),
      ...[trust.honest_rejected, trust.honest_rejected_without_facts].map((share) => figure(share)),
      ...[trust.honest_unscored, trust.honest_unscored_without_facts].map((share) => figure(share)),
      figure(trust.harmful_unlimited),
      figure(trust.safe_over_burnt),
      figure(trust.shortest_instant_days, 1),
      figure(d2_correlation.rho),
      d2_correlation.between.join(" and "),
    ]),
  ];
}

function verdict(bar: AttackResult["bar"], holds: boolean | null): string {
  if (bar === null) return "no bar";
  return holds ? "at most D" : "MISSES: at most D";
}

function priceRows(prices: readonly PriceResult[]): readonly string[][] {
  return [
    ["grade", "confidence", "calls", "days", "contracts", "gas", "cost"],
    ...prices.map(({ grade, confidence, calls, days, places, gas, usd }) => [
      grade,
      confidence,
      String(calls),
      String(days),
      String(places),
      String(gas),
      dollars(usd),
    ]),
  ];
}

function barRows({ bars }: Results): readonly string[][] {
  return [
    ["bar", "value", "asked", "holds"],
    ...bars.map(({ name, value, bar, holds }) => [name, figure(value), bar, holds ? "yes" : "MISSES"]),
  ];
}
