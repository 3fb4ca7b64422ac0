import type { components, paths } from "./schema.ts";
import type { paths as verificationPaths } from "./verification-schema.ts";

/** The paths of both interfaces. */
type Paths = paths & verificationPaths;

type Method = "get" | "post" | "put" | "delete";

/** The answer of an operation; a preview is an answer of its own. */
export type Answer<Path extends keyof Paths, Verb extends Method> = Paths[Path][Verb] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Exclude<Body, ReportPreview>
  : never;

/** Free counts and upper bounds of what the reports on a wallet find. */
export type ReportPreview = components["schemas"]["ReportPreview"];

/** The JSON that an operation takes. */
export type Body<Path extends keyof Paths, Verb extends Method> = Paths[Path][Verb] extends {
  requestBody: { content: { "application/json": infer Given } };
}
  ? Given
  : never;

/** Query parameters of an operation. */
export type Query<Path extends keyof Paths, Verb extends Method> = Paths[Path][Verb] extends {
  parameters: { query?: infer Given };
}
  ? Exclude<Given, undefined>
  : never;

export type RoutingAction = components["schemas"]["RoutingAction"];
export type Grade = components["schemas"]["Grade"];

/** A routing decision as the service answers it, with the score under its short name as well. */
export type RoutingDecision = Answer<"/ahs/route/{address}", "get"> & { readonly score: number | null };

/** The newest decision on an output, and its state. */
export type Verdict = Answer<"/v1/verdicts/{verdict_id}", "get">;
