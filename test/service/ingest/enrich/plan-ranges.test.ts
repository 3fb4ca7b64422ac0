import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import type { EnrichState } from "../../../../service/ingest/enrich/enrich-reads.ts";
import { planChainRange, planPastRange } from "../../../../service/ingest/enrich/run-enrich.ts";

const A: Address = `0x${"a1".repeat(20)}`;
const B: Address = `0x${"b2".repeat(20)}`;
const HASH = `0x${"00".repeat(32)}` as const;

/** Wallets A and B are followed from these blocks on. */
function state(cursor: number | null, since: readonly number[], past: EnrichState["past"] = []): EnrichState {
  const wallets = new Map(since.map((block, index) => [index === 0 ? A : B, block]));
  return { cursor: cursor === null ? null : { block: cursor, hash: HASH }, wallets, past };
}

const open = (wallet: Address, next: number) => ({ wallet, next, until: 40 });

describe("the next blocks for every wallet", () => {
  test.each([
    ["begin where the first wallet is followed", state(null, [30, 20]), [20, 29]],
    ["begin at the finalized block without wallets", state(null, []), [100, 100]],
    ["follow the cursor", state(49, [30]), [50, 59]],
    ["end with the finalized block", state(95, [30]), [96, 100]],
    ["are none at the finalized block", state(100, []), null],
    ["are none where the index is behind", state(120, []), null],
  ])("%s", (_name, from, range) => {
    const planned = planChainRange(from, 100, 10);
    expect(planned === null ? null : [planned.from, planned.to]).toEqual(range);
  });

  test("are read for the wallets followed by their end, each from its own first block", () => {
    const planned = planChainRange(state(49, [59, 60]), 100, 10);
    expect(planned).toEqual({ from: 50, to: 59, wallets: new Map([[A, 59]]) });
  });
});

describe("the next blocks of open pasts", () => {
  test.each([
    ["are none when nothing is open", [], null, []],
    [
      "are those of the earliest, with all that begin within them",
      [open(A, 10), open(B, 15)],
      { from: 10, to: 19 },
      [10, 15],
    ],
    ["leave later ones for later", [open(A, 10), open(B, 20)], { from: 10, to: 19 }, [10]],
    ["end where the past does", [open(A, 38)], { from: 38, to: 40 }, [38]],
  ])("%s", (_name, past, range, since) => {
    const { wallets } = state(null, since);
    expect(planPastRange(state(null, [10, 15], past), 10)).toEqual(range && { ...range, wallets });
  });
});
