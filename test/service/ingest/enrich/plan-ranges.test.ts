import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import type { EnrichState } from "../../../../service/ingest/enrich/enrich-reads.ts";
import { planChainRange, planPastRange } from "../../../../service/ingest/enrich/plan-ranges.ts";

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
    {
      name: "begin where the first wallet is followed",
      from: state({
        wallets: [
          [A, 30],
          [B, 20],
        ],
      }),
      range: [20, 29],
    },
    { name: "begin at the finalized block without wallets", from: state({}), range: [100, 100] },
    { name: "follow the cursor", from: state({ cursor: 49, wallets: [[A, 30]] }), range: [50, 59] },
    {
      name: "end with the finalized block",
      from: state({ cursor: 95, wallets: [[A, 30]] }),
      range: [96, 100],
    },
    { name: "are none at the finalized block", from: state({ cursor: 100 }), range: null },
    { name: "are none where the index is behind", from: state({ cursor: 120 }), range: null },
  ])("$name", ({ from, range }) => {
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
    { name: "are none when nothing is open", past: [], planned: null },
    {
      name: "are those of the earliest, with all that begin within them",
      past: [
        { wallet: A, next: 10, until: 40 },
        { wallet: B, next: 15, until: 40 },
      ],
      planned: {
        from: 10,
        to: 19,
        wallets: new Map([
          [A, 10],
          [B, 15],
        ]),
      },
    },
    {
      name: "leave later ones for later",
      past: [
        { wallet: A, next: 10, until: 40 },
        { wallet: B, next: 20, until: 40 },
      ],
      planned: { from: 10, to: 19, wallets: new Map([[A, 10]]) },
    },
    {
      name: "end where the past does",
      past: [{ wallet: A, next: 38, until: 40 }],
      planned: { from: 38, to: 40, wallets: new Map([[A, 38]]) },
    },
  ])("$name", ({ past, planned }) => {
    expect(planPastRange(state({ wallets, past }), 10)).toEqual(planned);
  });
});
