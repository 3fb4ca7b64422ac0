import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import type { EnrichState } from "../../../../service/ingest/enrich/enrich-reads.ts";
import { planChainRange, planPastRange } from "../../../../service/ingest/enrich/run-enrich.ts";

const A: Address = `0x${"a1".repeat(20)}`;
const B: Address = `0x${"b2".repeat(20)}`;
const HASH = `0x${"00".repeat(32)}` as const;

function state(parts: {
  cursor?: number;
  wallets?: [Address, number][];
  past?: EnrichState["past"];
}): EnrichState {
  return {
    cursor: parts.cursor === undefined ? null : { block: parts.cursor, hash: HASH },
    wallets: new Map(parts.wallets ?? []),
    past: parts.past ?? [],
  };
}

describe("the next blocks for every wallet", () => {
  test.each([
    [
      "begin where the first wallet is followed",
      state({
        wallets: [
          [A, 30],
          [B, 20],
        ],
      }),
      [20, 29],
    ],
    ["begin at the finalized block without wallets", state({}), [100, 100]],
    ["follow the cursor", state({ cursor: 49, wallets: [[A, 30]] }), [50, 59]],
    ["end with the finalized block", state({ cursor: 95, wallets: [[A, 30]] }), [96, 100]],
    ["are none at the finalized block", state({ cursor: 100 }), null],
    ["are none where the index is behind", state({ cursor: 120 }), null],
  ])("%s", (_name, from, range) => {
    const planned = planChainRange(from, 100, 10);
    expect(planned === null ? null : [planned.from, planned.to]).toEqual(range);
  });

  test("are read for the wallets followed by their end, each from its own first block", () => {
    const planned = planChainRange(
      state({
        cursor: 49,
        wallets: [
          [A, 59],
          [B, 60],
        ],
      }),
      100,
      10,
    );
    expect(planned).toEqual({ from: 50, to: 59, wallets: new Map([[A, 59]]) });
  });
});

describe("the next blocks of open pasts", () => {
  const wallets: [Address, number][] = [
    [A, 10],
    [B, 15],
  ];
  test.each([
    ["are none when nothing is open", [], null],
    [
      "are those of the earliest, with all that begin within them",
      [
        { wallet: A, next: 10, until: 40 },
        { wallet: B, next: 15, until: 40 },
      ],
      {
        from: 10,
        to: 19,
        wallets: new Map([
          [A, 10],
          [B, 15],
        ]),
      },
    ],
    [
      "leave later ones for later",
      [
        { wallet: A, next: 10, until: 40 },
        { wallet: B, next: 20, until: 40 },
      ],
      { from: 10, to: 19, wallets: new Map([[A, 10]]) },
    ],
    [
      "end where the past does",
      [{ wallet: A, next: 38, until: 40 }],
      { from: 38, to: 40, wallets: new Map([[A, 38]]) },
    ],
  ])("%s", (_name, past, planned) => {
    expect(planPastRange(state({ wallets, past }), 10)).toEqual(planned);
  });
});
