import { unavailable } from "../access/problems.ts";
import type { UrlVisitor } from "../registries/probes/probe-endpoint.ts";
import { echoInput } from "./validation/echo-input.ts";
import { ValidationFailed } from "./validation/validation-failed.ts";

const RETRY_AFTER_SECONDS = 10;

/** Throws the 422 of a URL that the guard refuses, or a 503 if no name server answers for its host, before anything is charged. */
export async function refuseUrl(
  {
    loc,
    given,
    asked = given,
  }: { readonly loc: readonly string[]; readonly given: string; readonly asked?: string },
  refusal: UrlVisitor["refusal"],
): Promise<void> {
  const refused = await refusal(asked);
  if (refused === null) return;
  if (refused.kind === "unresolved")
    throw unavailable("names-unavailable", `No name server answers for the host of ${loc.at(-1)}.`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  const { error } = refused;
  const [msg, input] = [`Value error, ${error}`, echoInput(given)];
  throw new ValidationFailed([{ type: "value_error", loc, msg, input, ctx: { error } }]);
}
