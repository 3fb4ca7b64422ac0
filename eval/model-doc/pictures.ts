import { featureCurves } from "../../service/model/score/curve.ts";
import type { Policy } from "../../service/model/score/policy-shape.ts";
import type { Picture } from "./curve-picture.ts";

/** The pictures of every feature by its name: D1 and D2 by what the features read, D3 by the policy. */
export function picturesOf(policy: Policy): ReadonlyMap<string, readonly Picture[]> {
  const pictures = new Map<string, readonly Picture[]>();
  for (const [feature, curves] of featureCurves(policy)) {
    pictures.set(
      feature,
      curves.map(({ name, xUnit, curve }) => ({
        file: fileName(feature, name),
        title: `${words(feature)}: ${words(name)}`,
        xUnit,
        yUnit: curve.some(([, height]) => height > 1) ? "points" : "weight",
        curve,
      })),
    );
  }
  const { infrastructure: d3 } = policy;
  const probed = [
    ["availability", "share of probes", d3.availabilityCurve],
    ["latency_p50", "milliseconds", d3.latencyP50Curve],
    ["latency_p95", "milliseconds", d3.latencyP95Curve],
    ["error_rate", "share of probes", d3.errorRateCurve],
    ["validity", "share of probes", d3.validityCurve],
  ] as const;
  for (const [feature, xUnit, curve] of probed) {
    const file = fileName("infrastructure", feature);
    pictures.set(feature, [
      { file, title: `infrastructure: ${words(feature)}`, xUnit, yUnit: "points", curve },
    ]);
  }
  return pictures;
}

function fileName(feature: string, name: string): string {
  return `${feature}-${name}`.replaceAll("_", "-");
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}
