import type { AsOf } from "../features/types.ts";
import {
  asInsufficient,
  type Confidence,
  confidenceOf,
  levelUntil,
  SANCTIONED_CONFIDENCE,
} from "./confidence.ts";
import type { Policy } from "./policy-shape.ts";
import { type FeatureLine, gradeOf, type MeasuredWallet, type ScoreRecord } from "./record.ts";
import {
  type Dimension,
  dimensionLines,
  integerPoints,
  type Points,
  plainLine,
  scoreDimension,
  scoreTotal,
} from "./score-total.ts";

/** Features to record: a sanctioned wallet is F whatever it did, and one with too little evidence is not scored. */
export function scoreFeatures(wallet: MeasuredWallet, asOf: AsOf, policy: Policy): ScoreRecord {
  const d1 = scoreDimension("D1", wallet.features, policy);
  const d2 = scoreDimension("D2", wallet.features, policy);
  const base = {
    chainId: wallet.chainId,
    wallet: wallet.wallet,
    modelVersion: policy.version,
    asOf,
    sanctionsFlags: wallet.sanctions,
    patterns: wallet.patterns,
    coverage: wallet.coverage,
  };
  if (wallet.sanctions.length > 0) return { ...base, ...sanctionedParts({ wallet, d1, d2 }, policy) };

  const total =
    d1.points === null || d2.points === null
      ? null
      : scoreTotal({ ...wallet, d1: d1.points, d2: d2.points, sanctioned: false }, policy);
  const grade = total === null ? null : gradeOf(total.score, policy.grades);
  const now = asOf.timestamp;
  const confidence = confidenceOf(wallet, { grade, now }, policy);
  if (total === null || grade === null || confidence.level === "INSUFFICIENT") {
    const { missing, ...said } = asInsufficient(confidence, policy);
    return {
      ...base,
      ...confidenceParts(said),
      levelUntil: null,
      outcome: { kind: "insufficient" },
      features: [
        ...dimensionLines({ ...d1, points: null }),
        ...dimensionLines({ ...d2, points: null }),
        { ...plainLine("AHS", "evidence", 0, missing), value: null, contribution: null },
      ],
    };
  }
  return {
    ...base,
    ...confidenceParts(confidence),
    levelUntil: levelUntil(wallet, { grade, now }, policy),
    outcome: {
      kind: "scored",
      ahsScore: total.score,
      d1Score: integerPoints(d1.points ?? 0),
      d2Score: integerPoints(d2.points ?? 0),
      grade,
    },
    features: [...dimensionLines(d1), ...dimensionLines(d2), ...total.lines],
  };
}

/** D1 and the total are 0 under sanctions; a D2 that cannot be measured counts 0 as well, which a line says. */
function sanctionedParts(
  { wallet, d1, d2 }: { readonly wallet: MeasuredWallet; readonly d1: Dimension; readonly d2: Dimension },
  policy: Policy,
): Pick<ScoreRecord, "outcome" | "features" | "confidenceMicros" | "confidenceLevel" | "levelUntil"> {
  const behaviour: Points = d2.points === null ? 0 : d2.points;
  const total = scoreTotal(
    {
      d1: 0,
      d2: behaviour,
      patterns: wallet.patterns,
      sanctioned: true,
    },
    policy,
  );
  return {
    ...confidenceParts(SANCTIONED_CONFIDENCE),
    levelUntil: null,
    outcome: {
      kind: "scored",
      ahsScore: total.score,
      d1Score: 0,
      d2Score: integerPoints(behaviour),
      grade: gradeOf(total.score, policy.grades),
    },
    features: [...sanctionedLines(d1), ...behaviourLines(d2), ...total.lines],
  };
}

function sanctionedLines(d1: Dimension): readonly FeatureLine[] {
  const loss = d1.points === null ? 0 : -100 * integerPoints(d1.points);
  return [...dimensionLines(d1), plainLine("D1", "sanctions", loss, "the wallet is on a sanctions list")];
}

function behaviourLines(d2: Dimension): readonly FeatureLine[] {
  const lines = dimensionLines(d2);
  if (d2.points !== null) return lines;
  return [
    ...lines,
    plainLine("D2", "sanctions", 0, "too little history to measure, counted 0 under sanctions"),
  ];
}

function confidenceParts({ micros, level }: Pick<Confidence, "micros" | "level">) {
  return { confidenceMicros: micros, confidenceLevel: level };
}
