import { routeWords, shortHex } from "../pages/page-words.ts";
import type { ReportCard } from "../routes/get-report-card-schema.ts";
import type { CardView } from "./draw-card.ts";
import { drawableText } from "./drawable-text.ts";

const SOURCES = { "chainalysis-oracle": "sanctions oracle", "ofac-sdn": "OFAC SDN" } as const;

const MAX_FEATURES = 5;
const MAX_NOTES = 3;

/** 1,234 as 1.2K, because captions are narrow. */
const COUNT = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });

/** The content of a card, with the address of the page that confirms it. Names and reasons are plain text, never markup. */
export function viewOf(card: ReportCard, origin: string): CardView {
  const isSanctioned = card.sanctions_flags.length > 0;
  const sources = [...new Set(card.sanctions_flags.map(({ source }) => SOURCES[source]))];
  const title = card.name === null ? "" : drawableText(card.name);
  const isNamed = title !== "";
  return {
    title: isNamed ? title : shortHex(card.address),
    titleNote: isNamed ? "Name self-declared, not verified" : null,
    address: card.address,
    source: `${drawableText(card.chain_name)}  ·  ${dayOf(card.as_of_time)}`,
    grade: card.grade,
    score: card.ahs_score,
    label: card.grade_label,
    action: routeWords(card.trust_routing),
    confidence: `Confidence ${Math.round(100 * card.confidence)}%, ${card.confidence_level.toLowerCase()}`,
    sanctioned: isSanctioned ? `Sanctioned: ${sources.join(", ")}` : null,
    dimensions: card.dimensions.map(({ title, weight, score }) => ({
      title: `${title}, ${Math.round(100 * weight)}%`,
      score,
    })),
    features: featuresOf(card),
    notes: notesOf(card),
    tenths: card.benchmark.score_distribution.map(({ wallets }) => wallets),
    ownTenth: card.ahs_score === null ? null : Math.min(9, Math.floor(card.ahs_score / 10)),
    ranking: rankingOf(card),
    history: card.history.map(({ ahs_score }) => ahs_score),
    historyCaption: historyCaption(card),
    link: `${new URL(origin).host}/wallet/${card.address}`,
    footer: `Block ${card.as_of_block}  ·  model ${card.model_version}  ·  window ${card.window.days} days${
      card.coverage.complete ? "" : ", not complete"
    }${card.stale ? "  ·  older than 24 hours" : ""}`,
  };
}

/** The most informative features: the worst measured ones first. A sanctioned wallet shows its listings only. */
function featuresOf({ dimensions, sanctions_flags }: ReportCard): CardView["features"] {
  if (sanctions_flags.length > 0)
    return sanctions_flags.slice(0, MAX_FEATURES).map(({ source, detected_at }) => ({
      title: "Sanctions",
      says: `Listed: ${SOURCES[source]}, seen ${dayOf(detected_at)}`,
      score: 0,
    }));
  return dimensions
    .flatMap(({ features }) => features)
    .flatMap(({ title, says, score }) => (score === null ? [] : [{ title, says, score }]))
    .toSorted((one, other) => one.score - other.score)
    .slice(0, MAX_FEATURES)
    .map(({ title, says, score }) => ({ title, says: drawableText(says), score }));
}

function notesOf({ ahs_score, sanctions_flags, patterns, adjustments }: ReportCard): CardView["notes"] {
  if (sanctions_flags.length > 0) return [{ text: "The listing alone makes the score 0", isBad: true }];
  if (ahs_score === null) return [{ text: "Too little history is no sign of risk", isBad: false }];
  const named = new Set(patterns.map(({ name }) => name));
  const found = patterns.map(({ title, effect, severity }) => ({
    text: effect === 0 ? title : `${title} ${signed(effect)}`,
    isBad: severity !== "info",
  }));
  const taken = adjustments
    .filter(({ name, points }) => !named.has(name) && points < 0)
    .map(({ title, points }) => ({ text: `${title} ${signed(points)}`, isBad: true }));
  return [...found, ...taken].slice(0, MAX_NOTES);
}

/** Points to a tenth, with a minus sign and not a hyphen. */
function signed(points: number): string {
  return `${points < 0 ? "−" : ""}${Math.abs(Math.round(10 * points) / 10)}`;
}

function rankingOf({ benchmark: { rank, scored_wallets } }: ReportCard): string {
  const wallets = `${COUNT.format(scored_wallets)} scored wallet${scored_wallets === 1 ? "" : "s"}`;
  return rank === null ? `Not ranked among ${wallets}` : `Rank ${COUNT.format(rank)} of ${wallets}`;
}

function historyCaption({ history }: ReportCard): string {
  const scored = history.filter(({ ahs_score }) => ahs_score !== null);
  const [first] = scored;
  const last = scored.at(-1);
  if (first === undefined || last === undefined) return "No score yet";
  if (scored.length === 1) return `One day so far, ${dayOf(first.as_of_time)}`;
  return `${dayOf(first.as_of_time)} to ${dayOf(last.as_of_time)}`;
}

function dayOf(iso: string): string {
  return iso.slice(0, "2026-11-20".length);
}
