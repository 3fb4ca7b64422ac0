import { describe, expect, it } from "vitest";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { causeOf as healthCause } from "../../../../service/reports/diagnosis/failures.ts";
import { causeOf } from "../../../../service/reports/recovery/failure-cause.ts";
import { callsOf } from "../../model/features/histories.ts";

describe("why a transaction failed", () => {
  it.each([95_000n, 96_000n, 97_999n, 98_000n, 100_000n])(
    "is what /health says of %s gas used of 100,000",
    (gasUsed) => {
      const [call] = callsOf([{ at: 0, ok: false, gasLimit: 100_000n, gasUsed }]);
      if (call === undefined) throw new Error("one step makes one call");
      expect(causeOf(call, null, AHS_2026_1).kind).toBe(healthCause(call, AHS_2026_1));
    },
  );

  it("is a moved price only where the contract says so and gas was left", () => {
    const replay = { reason: "Too little received", isSlippage: true };
    const kindOf = (gasUsed: bigint) => causeOf({ gasUsed, gasLimit: 100n }, replay, AHS_2026_1).kind;
    expect([kindOf(50n), kindOf(99n)]).toEqual(["slippage", "out_of_gas"]);
  });
});
