import { counts, dollars, figure, instantAmount, meanFeatures } from "../render-results.ts";
import type { AttackResult } from "../result-rows.ts";
import type { Results } from "../results.ts";
import { grouped, markdownTable, percent } from "./markdown.ts";

/** Gwei at which the prices of grades are given beside the stated one. */
const OTHER_PRICES = [0.005, 0.5];

/** The parts of the document that report an evaluation. */
export function evaluationSections(results: Results): readonly string[] {
  return [evaluation(results), attacks(results), prices(results)];
}

function evaluation(results: Results): string {
  const { by_seed, archetypes, characters, bars } = results;
  return `## 7. Evaluation

\`npm run eval\` simulates agents, users, contracts, payees and a fee market, builds from them what the service builds from a chain, and scores with this model. Seeds are drawn at each run; these figures are of the seeds ${results.seeds.join(", ")} (\`npm run eval -- ${results.seeds.map((seed) => `--seed ${seed}`).join(" ")}\`). A simulation shows that the model does what it is meant to do in a world as described, not that the world is so.

The simulation has agents at rhythms, prices, failure rates and places drawn from ranges; strangers who are seen only in the share of blocks that the service reads; accounts of known and unknown age and funder. Credits and owner clusters are not given but found by the service's own code.

### Archetypes

${markdownTable([
  ["Archetype", "Tier", "Wallets", "Median", "p10–p90", "Insufficient", "Confidence", "Grades"],
  ...archetypes.map(({ name, tier, wallets, median, p10, p90, insufficient, confidence, grades }) => [
    name,
    tier ?? "–",
    wallets,
    figure(median, 0),
    `${figure(p10, 0)}–${figure(p90, 0)}`,
    insufficient,
    figure(confidence, 2),
    counts(grades),
  ]),
])}

### Order and scale

In a population of equal tiers, INSUFFICIENT left out: the share of pairs of different tiers that are in order, and the share of scores in the fullest 20-point band of all that start at a whole point.

${markdownTable([
  ["Seed", "Order", "Tiers 1–2", "2–3", "3–4", "4–5", "Fullest band", "Its share"],
  ...by_seed.map(({ seed, pairwise_order, neighbours, worst_band }) => [
    seed,
    figure(pairwise_order),
    ...neighbours.map((share) => figure(share)),
    `${worst_band.from}–${worst_band.from + 20}`,
    percent(worst_band.share),
  ]),
])}

### Out of sample

Scores on day 60 against what happens in days 60 to 90, on populations whose make-up and drift are drawn anew for each seed: failure rates and prices walk from week to week, things break and are repaired, some pad their record with calls that cost nothing. *Failing*: more than one in five of the later calls made for a purpose fails. *Losing*: more than half of the later fees is burnt by failures or paid above the market's price, or an approval to a contract of days is abused. The figures are areas under the ROC curve, 0.5 being chance; the table compares the score with the share of successful calls until day 60 and the age of the account.

${markdownTable([
  ["Seed", "Wallets", "Failing", "AHS", "Success rate", "Age", "Losing", "AHS", "Success rate", "Age"],
  ...by_seed.map(({ seed, out_of_sample: { failure, loss, ...out } }) => [
    seed,
    out.wallets,
    percent(out.share_failing),
    figure(failure.score),
    figure(failure.success_rate),
    figure(failure.account_age),
    percent(out.share_losing),
    figure(loss.score),
    figure(loss.success_rate),
    figure(loss.account_age),
  ]),
])}

The baselines that are hardest to beat: success with a half-life of 14 days, the plain mean of all features, and gas_efficiency alone.

${markdownTable([
  ["Seed", "Failing: AHS", "14 days", "Mean", "Gas", "Losing: AHS", "14 days", "Mean", "Gas"],
  ...by_seed.map(({ seed, out_of_sample: { failure, loss } }) => [
    seed,
    ...[failure, loss].flatMap((areas) =>
      [areas.score, areas.ewma_success, areas.mean_of_features, areas.gas_efficiency].map((area) =>
        figure(area),
      ),
    ),
  ]),
])}

The value of each feature, as means over the seeds: areas by its points alone among the wallets that have it, areas of the score without it, and the rank correlation of its points with plain success. The greatest rank correlation between two D2 features, or of one with plain success, is ${strongest(results)}.

${markdownTable([
  ["Feature", "Measured", "Failing alone", "Without it", "Losing alone", "Without it", "Correlation"],
  ...meanFeatures(results).map(({ name, measured, alone, without, with_success }) => [
    name,
    percent(measured),
    ...[alone.failing, without.failing, alone.losing, without.losing].map((area) => figure(area)),
    figure(with_success, 2),
  ]),
])}

### Honest and harmful wallets

Kinds of wallets as people know them, for 180 days, with the grade that an expert would give each; kinds and grades are our judgement. *None* are those with neither a score nor a seller profile; *rejected* and *at once* are routes of the default table; *safe* is the median of the safe amounts. The last three columns are of the same wallets for a service without a source of account facts.

A safe amount is half of a cost basis: CB(w) = own(w) + Σ min(pay(p→w), ½·CB(p)·pay(p→w) / pay(p→all)) over all payers p outside the owner cluster, over 180 days. Own cost is the fees that a wallet paid itself, 0.05 % of its swaps at established venues, and 30 % of its payments to vetted services. The simulation takes the 30 busiest payees and 8 busiest sellers for vetted.

${markdownTable([
  [
    ...["Kind", "Worth", "Wallets", "Median", "Grades", "None", "Rejected", "At once", "Safe"],
    ...["Grades", "None", "Rejected"],
  ],
  ...characters.map((kind) => [
    kind.name,
    kind.worth ?? "–",
    kind.wallets,
    figure(kind.median, 0),
    counts(kind.grades),
    percent(kind.unscored),
    percent(kind.rejected),
    percent(kind.instant),
    dollars(kind.safe_usd ?? 0),
    counts(kind.without_facts.grades),
    percent(kind.without_facts.unscored),
    percent(kind.without_facts.rejected),
  ]),
])}

${characters.map(({ name, what }) => `- \`${name}\`: ${what}.`).join("\n")}

Kinds weigh alike. *Honest over forged* is the area of the safe amounts of honest kinds worth an A or B over those of the attacks below that forge a record; *by score* that of their scores, which are not made to separate the two.

${markdownTable([
  [
    "Seed",
    "Honest over forged",
    "By score",
    "Rejected",
    "None",
    "Harmful, A or B, HIGH, any amount",
    "Days to an instant settlement",
  ],
  ...by_seed.map(({ seed, trust }) => [
    seed,
    figure(trust.honest_over_forged_auc),
    figure(trust.honest_over_forged_by_score),
    percent(trust.honest_rejected),
    percent(trust.honest_unscored),
    percent(trust.harmful_unlimited),
    trust.shortest_instant_days,
  ]),
])}

### Bars

Each is the figure of the worst seed, but for mean leads, which the seeds hold together.

${markdownTable([
  ["Bar", "Figure", "Asked", "Holds"],
  ...bars.map(({ name, value, bar, holds }) => [name, figure(value), bar, holds ? "yes" : "**no**"]),
])}`;
}

/** The greatest correlation of all seeds, in words. */
function strongest({ by_seed }: Results): string {
  const [found] = by_seed
    .map(({ out_of_sample }) => out_of_sample.d2_correlation)
    .sort((a, b) => Math.abs(b.rho) - Math.abs(a.rho));
  return found === undefined ? "not known" : `${figure(found.rho, 2)}, of ${found.between.join(" and ")}`;
}

function attacks({ attacks: all, stated }: Results): string {
  const own = all.filter(({ bar }) => bar !== "unchanged");
  const done = all.filter(({ bar }) => bar === "unchanged");
  return `## 8. Attacks

The best that each reached in any seed, and what it cost: gas of every call, of the contracts made and of the strangers sent, without what was paid to others, in dollars at ${stated.gas_price_gwei} gwei and ${stated.native_usd} USD for the coin. Both prices are assumptions. *Route* is the most lenient of its wallets', *at once* the amount that the default table settles with all of them together at once, *spent* what all of its accounts spent by their cost bases, at the prices of the simulated days.

${markdownTable([
  ["Attack", "Grade", "AHS", "Confidence", "Calls", "Gas", "Cost", "Route", "At once", "Spent"],
  ...own.map(attackRow),
])}

${done.map(({ what, holds }) => `- ${capitalised(what)}: the record ${holds ? "stays the same in every line" : "**changes**"}.`).join("\n")}`;
}

function attackRow({
  what,
  grade,
  ahs,
  confidence,
  confidence_level,
  calls,
  gas,
  usd,
  ...backing
}: AttackResult): string[] {
  return [
    capitalised(what),
    grade ?? "none",
    figure(ahs, 0),
    `${figure(confidence, 2)} ${confidence_level}`,
    grouped(calls),
    grouped(gas),
    dollars(usd),
    backing.route ?? "–",
    instantAmount(backing),
    dollars(backing.burnt_usd),
  ];
}

function prices({ prices: all, stated, shortest_instant_days }: Results): string {
  const cost = (gas: number, gwei: number) => dollars(gas * gwei * 1e-9 * stated.native_usd);
  const gweis = [stated.gas_price_gwei, ...OTHER_PRICES].toSorted((a, b) => a - b);
  return `## 9. The price of a grade

A history does not prove honesty. This is the least gas that bought each grade with clean, cheap calls with an effect, to contracts that others use, among plans of 7 to 90 days, half a call to ten calls a day and one to eight contracts; of the seeds the dearest. With up to 600 calls a day the shortest plan from a new wallet to an instant settlement took ${shortest_instant_days} days.

${markdownTable([
  [
    "Grade or better",
    "Confidence or better",
    "Days",
    "Calls",
    "Contracts",
    "Gas",
    ...gweis.map((gwei) => `at ${gwei} gwei`),
  ],
  ...all.map(({ grade, confidence, days, calls, places, gas }) => [
    grade,
    confidence,
    days,
    calls,
    places,
    grouped(gas),
    ...gweis.map((gwei) => cost(gas, gwei)),
  ]),
])}

At ${stated.native_usd} USD for the coin. A grade A is therefore no reason to settle any amount at once: a payer names the amount to the route, and above the safe amount an instant settlement becomes escrow.`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
