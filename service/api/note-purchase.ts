import type { ChargeTerms, PaidRequest } from "../access/access.ts";
import type { Acceptance, Noted, PaidSpec, PaidWorkContext } from "./endpoint-spec.ts";
import type { RequestInput } from "./validation/read-input.ts";

/** What one request has noted of its purchase so far. */
type PurchaseNote<Answer> = {
  /** What access calls once the price is held; nothing for an endpoint that notes nothing. */
  readonly terms: Pick<ChargeTerms, "accept" | "isThere">;
  /** Null while nothing is noted. */
  noted(): Noted | null;
  /** What somebody bought before; null where nobody did. */
  bought(): Answer | null;
  /** Takes the note back where there is one. Never throws. */
  withdraw(): Promise<void>;
};

/** The note of a request, made by the endpoint's `accept`. */
export function noteFor<Params, Query, Body, Answer, Checked, Deps, Prepared>(
  spec: PaidSpec<Params, Query, Body, Answer, Checked, Deps, Prepared>,
  call: {
    readonly input: RequestInput<Params, Query, Body>;
    readonly prepared: Prepared;
    readonly work: PaidWorkContext<Deps>;
    readonly request: PaidRequest;
  },
): PurchaseNote<Answer> {
  const { accept, boughtMeanwhile } = spec;
  const { input, prepared, work, request } = call;
  const found: { acceptance: Acceptance<Answer> | null } = { acceptance: null };
  const noted = () => (found.acceptance?.kind === "noted" ? found.acceptance : null);
  return {
    terms: {
      ...(accept && {
        async accept(hold) {
          found.acceptance = await accept(input, prepared, { ...work, ...hold, signal: request.signal });
          return found.acceptance.kind === "noted";
        },
      }),
      ...(boughtMeanwhile && {
        async isThere() {
          const answer = await boughtMeanwhile(prepared, { ...work, signal: request.signal });
          if (answer !== null) found.acceptance = { kind: "bought", answer };
          return answer !== null;
        },
      }),
    },
    noted,
    bought: () => (found.acceptance?.kind === "bought" ? found.acceptance.answer : null),
    async withdraw() {
      const id = noted()?.id ?? null;
      if (id !== null) await spec.withdraw?.(id, work);
    },
  };
}
