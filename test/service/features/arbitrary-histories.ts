import fc from "fast-check";
import type { OwnCall } from "../../../service/features/types.ts";
import { account, callsOf, DAY, HOUR, START, WALLET } from "./histories.ts";

const gap = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 5, max: 900 }) },
  { weight: 5, arbitrary: fc.integer({ min: 900, max: 12 * HOUR }) },
  { weight: 2, arbitrary: fc.integer({ min: 12 * HOUR, max: 6 * DAY }) },
);

const target = fc.oneof(
  { weight: 10, arbitrary: fc.integer({ min: 2000, max: 2004 }).map(account) },
  { weight: 1, arbitrary: fc.constant(WALLET) },
  { weight: 1, arbitrary: fc.constant(null) },
);

const step = fc.record({
  gap,
  to: target,
  selector: fc.constantFrom("0x00000001", "0x00000002", null),
  ok: fc.integer({ min: 0, max: 9 }),
  price: fc.bigInt({ min: 1n, max: 50_000_000_000n }),
  gasUsed: fc.bigInt({ min: 21_000n, max: 900_000n }),
  slack: fc.bigInt({ min: 0n, max: 3_000_000n }),
});

/** Histories of all shapes: bursts, silences, self-calls and creations, from never failing to always failing. */
export const anyHistory: fc.Arbitrary<readonly OwnCall[]> = fc
  .record({
    steps: fc.array(step, { minLength: 1, maxLength: 90, size: "max" }),
    // Failures per ten calls, so that every level of health comes up.
    failing: fc.constantFrom(0, 1, 1, 2, 4, 8, 10),
  })
  .map(({ steps, failing }) => {
    let at = START;
    return callsOf(
      steps.map(({ gap: pause, to, selector, ok, price, gasUsed, slack }) => {
        at += pause;
        return {
          at,
          to,
          selector,
          ok: ok >= failing,
          gasUsed,
          gasLimit: gasUsed + slack,
          fee: gasUsed * price,
        };
      }),
    );
  });
