import type { ArchetypeResult, AttackResult, PriceResult, Results } from "./results.ts";

/** The whole of an evaluation as text tables for a terminal. */
export function renderResults(results: Results): string {
  return [
    `Model ${results.model_version}, seeds ${results.seeds.join(", ")}`,
    section("Archetypes", archetypeRows(results.archetypes)),
    section("Seeds", seedRows(results)),
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
    ["attack", "grade", "ahs", "confidence", "level", "calls", "gas", "cost", "bar"],
    ...attacks.map(({ name, grade, ahs, confidence, confidence_level, calls, gas, usd, bar, holds }) =>
      bar === "unchanged"
        ? [name, "–", "–", "–", "–", "–", "–", "–", holds ? "unchanged" : "MISSES: record changed"]
        : [
            name,
            grade ?? "none",
            figure(ahs, 0),
            figure(confidence, 2),
            confidence_level,
            String(calls),
            String(gas),
            dollars(usd),
            verdict(bar, holds),
          ],
    ),
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
