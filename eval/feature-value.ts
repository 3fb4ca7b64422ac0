import type { Policy } from "../service/model/score/policy-shape.ts";
import { areaUnderCurve, rankCorrelation } from "./measures.ts";

/** Features of a scored wallet and its later outcome. */
export type FeatureView = {
  /** Points of each measured feature. */
  readonly points: ReadonlyMap<string, number>;
  /** Scores without each feature; null where it leaves too little to score. */
  readonly scoreWithout: ReadonlyMap<string, number | null>;
  readonly successRate: number;
  readonly fails: boolean;
  readonly loses: boolean;
};

/** Areas under the curve for the two outcomes; null where one of the groups is empty. */
type Foresight = { readonly failing: number | null; readonly losing: number | null };

/** Value of a feature for foresight over one population. */
export type FeatureValue = {
  readonly name: string;
  readonly dimension: string;
  /** Share of the wallets for which it is measured. */
  readonly measured: number;
  /** Of the wallets that have it, by its points alone. */
  readonly alone: Foresight;
  /** Of all wallets, by the score without it. */
  readonly without: Foresight;
  /** Rank correlation of its points with the plain success rate. */
  readonly with_success: number | null;
};

/** Two things that say nearly the same. */
export type Correlation = { readonly between: readonly [string, string]; readonly rho: number };

/** Computes the value of each feature of a policy. */
export function valuesOf(views: readonly FeatureView[], { features }: Policy): readonly FeatureValue[] {
  return features.map(({ name, dimension }) => {
    const having = views.filter(({ points }) => points.has(name));
    const pointsOf = ({ points }: FeatureView) => points.get(name) ?? 0;
    return {
      name,
      dimension,
      measured: having.length / views.length,
      alone: foresight(having, pointsOf),
      without: foresight(
        views.filter(({ scoreWithout }) => scoreWithout.get(name) != null),
        ({ scoreWithout }) => scoreWithout.get(name) ?? 0,
      ),
      with_success: rankCorrelation(
        having.map(pointsOf),
        having.map(({ successRate }) => successRate),
      ),
    };
  });
}

/** The two among the D2 features and plain success whose ranks are most alike, or most opposite, where both are measured. */
export function strongestCorrelation(views: readonly FeatureView[], { features }: Policy): Correlation {
  const behaviour = features.filter(({ dimension }) => dimension === "D2").map(({ name }) => name);
  const names = [...behaviour, "plain_success"];
  const read = (name: string, { points, successRate }: FeatureView) =>
    name === "plain_success" ? successRate : points.get(name);
  const pairs = names.flatMap((one, place) => names.slice(place + 1).map((other) => [one, other] as const));
  const found = pairs.map((between): Correlation => {
    const both = views.flatMap((view) => {
      const [a, b] = [read(between[0], view), read(between[1], view)];
      return a === undefined || b === undefined ? [] : [{ a, b }];
    });
    const rho = rankCorrelation(
      both.map(({ a }) => a),
      both.map(({ b }) => b),
    );
    return { between, rho: rho ?? 0 };
  });
  const [strongest] = found.sort((a, b) => Math.abs(b.rho) - Math.abs(a.rho));
  if (strongest === undefined) throw new Error("a policy without behaviour has nothing to correlate");
  return strongest;
}

function foresight(views: readonly FeatureView[], readView: (view: FeatureView) => number): Foresight {
  const area = (goesWrong: (view: FeatureView) => boolean) =>
    areaUnderCurve(
      views.filter((view) => !goesWrong(view)).map(readView),
      views.filter(goesWrong).map(readView),
    );
  return { failing: area(({ fails }) => fails), losing: area(({ loses }) => loses) };
}
