import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import type { Access, Caller, PresentedPayment, Settlement } from "../../../../service/access/access.ts";
import { Problem } from "../../../../service/access/problems.ts";
import type { AhsRecord } from "../../../../service/api/schemas/ahs-record.ts";
import { toEip55 } from "../../../../service/api/schemas/values.ts";
import { bodyOf, fakeApp, fakeLedger, KEY, LISTING, storedScore, walletSnapshot } from "../fake-ports.ts";

type Batch = {
  readonly results: readonly AhsRecord[];
  readonly count: number;
  readonly errors: readonly { readonly address: string; readonly problem: { readonly status: number } }[];
};

const [FIRST, SECOND, THIRD] = [1, 2, 3].map(account) as [Address, Address, Address];
const CHECKSUMMED = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc";

function account(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

function accounts(count: number): readonly Address[] {
  return Array.from({ length: count }, (_, place) => account(place + 1));
}

async function batch(
  addresses: unknown,
  changes: Parameters<typeof fakeApp>[0] = {},
  { key = KEY, balanceUnits = 50_000 }: { readonly key?: string | null; readonly balanceUnits?: number } = {},
) {
  const fake = fakeApp(
    { scoreNow: async (address) => ({ kind: "stored", row: storedScore({ wallet: address }) }), ...changes },
    fakeLedger({ balanceUnits }),
  );
  const response = await fake.app.request("/ahs/batch", {
    method: "POST",
    headers: { "content-type": "application/json", ...(key === null ? {} : { "X-API-Key": key }) },
    body: JSON.stringify({ addresses }),
  });
  return { ...fake, response, spent: () => balanceUnits - Number(fake.keys.balance()) };
}

const CALLERS = {
  key: { kind: "key", keyId: "key-1", balanceUnits: null, ratePerMinute: 600 },
  // Nothing of the payment matters to a batch.
  payer: { kind: "payer", address: FIRST, payment: {} as PresentedPayment },
  nobody: { kind: "nobody" },
} as const satisfies Record<Caller["kind"], Caller>;

const UNSCORED = { ahsScore: null, grade: null, confidenceLevel: "INSUFFICIENT" } as const;

/** A batch from a caller that has access. */
async function batchOf(
  kind: Caller["kind"],
  addresses: readonly Address[],
  {
    taking,
    ...changes
  }: Parameters<typeof fakeApp>[0] & { readonly taking?: PresentedPayment["taking"] } = {},
) {
  const settlements: Settlement[] = [];
  const metered: (number | undefined)[] = [];
  const payment = { taking } as PresentedPayment;
  const access: Access = {
    identify: async () => (kind === "payer" ? { ...CALLERS.payer, payment } : CALLERS[kind]),
    limit: async () => ({}),
    recall: async () => null,
    prove: async (caller) => {
      if (caller.kind === "nobody") throw new Error("a batch of nobody was to be refused before");
      return caller;
    },
    take: async (_caller, _request, { settlement }) => {
      settlements.push(settlement);
      return {
        async keep(_answer, meteredUnits) {
          metered.push(meteredUnits);
          return {};
        },
        giveBack: async () => null,
      };
    },
    isOwed: () => false,
    keepFree: async (_caller, _request, answer) => answer,
    forget: async () => undefined,
  };
  const { response } = await batch(addresses, { access, ...changes });
  return { response, settlements, metered, taken: () => settlements.length };
}

describe("POST /ahs/batch", () => {
  it("answers the records in the order of the request, for a dollar each", async () => {
    const { response, spent, read } = await batch([THIRD, FIRST, SECOND]);
    const body = await bodyOf<Batch>(response);
    expect([response.status, body.count, body.errors, spent()]).toEqual([200, 3, [], 3_000]);
    expect(body.results.map(({ address }) => address)).toEqual([THIRD, FIRST, SECOND].map(toEip55));
    expect(body.results[0]).toMatchObject({ ahs_score: 84, grade: "B", confidence_level: "HIGH" });
    expect(read).toEqual([THIRD, FIRST, SECOND]);
  });

  it("answers a repeated wallet once, in any case", async () => {
    const upper = `0x${CHECKSUMMED.slice(2).toUpperCase()}`;
    const { response } = await batch([CHECKSUMMED, FIRST, CHECKSUMMED.toLowerCase(), upper, FIRST]);
    const { results } = await bodyOf<Batch>(response);
    expect(results.map(({ address }) => address)).toEqual([CHECKSUMMED, toEip55(FIRST)]);
  });

  it.each([
    [1, 1_000],
    [2, 2_000],
    [9, 9_000],
    [10, 10_000],
    [25, 10_000],
  ])("costs %i wallets of a key no more than one by one, and ten dollars at most", async (wallets, units) => {
    const { response, spent } = await batch(accounts(wallets));
    expect([(await bodyOf<Batch>(response)).count, spent()]).toEqual([wallets, units]);
  });

  it("counts a repeated wallet once in the price", async () => {
    const { spent } = await batch([FIRST, SECOND, FIRST]);
    expect(spent()).toBe(2_000);
  });

  it.each([
    ["some of them", [SECOND], 200, 1, [404]],
    ["all of them", [FIRST, SECOND], 404, undefined, undefined],
  ] as const)(
    "reads no history of wallets that have sent no transaction: %s",
    async (_name, unseen, status, count, errors) => {
      const fetched: Address[] = [];
      const { response, spent } = await batch([FIRST, SECOND], {
        scores: { snapshot: async () => walletSnapshot({ followed: false, score: null }) },
        scoreOnDemand: async (wallet) => {
          fetched.push(wallet);
          return { kind: "stored", row: storedScore({ wallet }) };
        },
        hasSent: async (address) => !unseen.some((one) => one === address),
      });
      const body = await bodyOf<Batch>(response);
      expect([response.status, body.count, body.errors?.map(({ problem }) => problem.status)]).toEqual([
        status,
        count,
        errors,
      ]);
      expect([fetched, spent()]).toEqual(status === 200 ? [[FIRST], 2_000] : [[], 0]);
    },
  );

  it("settles a payment before the work whatever its price, since the work may read histories", async () => {
    const { settlements } = await batchOf("payer", [FIRST]);
    expect(settlements).toEqual(["before"]);
  });

  it.each([
    ["a key and 26 wallets", "key", 25, 26],
    ["a payment and 11 wallets", "payer", 10, 11],
    ["neither and 11 wallets", "nobody", 10, 11],
  ] as const)("refuses %s before anything is taken", async (_name, kind, most, actual) => {
    const { response, taken } = await batchOf(kind, accounts(actual));
    expect([response.status, taken()]).toEqual([422, 0]);
    expect(await bodyOf<unknown>(response)).toEqual({
      detail: [
        {
          type: "too_long",
          loc: ["body", "addresses"],
          msg: `List should have at most ${most} items after validation, not ${actual}`,
          input: accounts(actual),
          ctx: { field_type: "List", max_length: most, actual_length: actual },
        },
      ],
    });
  });

  it.each([
    ["three scores", [84, 20, 0], 200, [3_000]],
    ["one score beside two wallets without one", [null, 84, null], 200, [1_000]],
    ["three wallets without a score", [null, null, null], 200, [10]],
    ["a wallet that is not found beside a score", ["gone", 84, "gone"], 200, [1_000]],
    ["no wallet that is found", ["gone", "gone", "gone"], 503, []],
  ] as const)(
    "of %s meters a payment of scheme upto, after the work",
    async (_name, scores, status, units) => {
      const { response, settlements, metered } = await batchOf("payer", [FIRST, SECOND, THIRD], {
        taking: "metered",
        scoreNow: async (wallet) => {
          const score = scores[[FIRST, SECOND, THIRD].indexOf(wallet)] ?? null;
          if (score === "gone") throw new Problem("scoring-unavailable", "gone", { headers: {} });
          return {
            kind: "stored",
            row: storedScore({ wallet, ...(score === null ? UNSCORED : { ahsScore: score }) }),
          };
        },
      });
      expect([response.status, settlements, metered]).toEqual([status, ["after"], units]);
    },
  );

  it("answers all 10 wallets of a payment, which is settled before the work", async () => {
    const { response, settlements } = await batchOf("payer", accounts(10));
    expect([(await bodyOf<Batch>(response)).count, settlements]).toEqual([10, ["before"]]);
  });

  it("counts distinct wallets: a hundred entries of one are one", async () => {
    const { response } = await batch(Array.from({ length: 100 }, () => FIRST));
    expect((await bodyOf<Batch>(response)).count).toBe(1);
  });

  it.each([
    ["no list", "0x", [["list_type", ["body", "addresses"]]]],
    ["an empty list", [], [["too_short", ["body", "addresses"]]]],
    ["101 entries", Array.from({ length: 101 }, () => FIRST), [["too_long", ["body", "addresses"]]]],
    [
      "entries that are no addresses",
      ["a", 2, null],
      [
        ["string_pattern_mismatch", ["body", "addresses", 0]],
        ["string_type", ["body", "addresses", 1]],
        ["string_type", ["body", "addresses", 2]],
      ],
    ],
    ["nothing", undefined, [["missing", ["body", "addresses"]]]],
  ])("refuses %s in the validation form", async (_name, addresses, faults) => {
    const { response, spent } = await batch(addresses);
    const { detail } = await bodyOf<{ detail: readonly { type: string; loc: readonly unknown[] }[] }>(
      response,
    );
    expect([response.status, spent()]).toEqual([422, 0]);
    expect(detail.map(({ type, loc }) => [type, loc])).toEqual(faults);
  });

  it("answers the others when one wallet fails, each failure as the single call would report it", async () => {
    const { response, spent, log, read } = await batch([FIRST, SECOND, THIRD, account(4)], {
      scoreNow: async (address) => {
        if (address === SECOND) throw new Error("a secret of the scorer");
        if (address === THIRD) return { kind: "unavailable", detail: "Not yet.", retryAfterSeconds: 1 };
        if (address === account(4)) return { kind: "not-indexed" };
        return { kind: "stored", row: storedScore({ wallet: address }) };
      },
    });
    const body = await bodyOf<Batch>(response);
    expect([response.status, body.count, spent()]).toEqual([200, 1, 4_000]);
    expect(body.errors.map(({ address, problem }) => [address, problem.status])).toEqual([
      [toEip55(SECOND), 500],
      [toEip55(THIRD), 503],
      [toEip55(account(4)), 404],
    ]);
    expect(body.errors[1]?.problem).toEqual({
      type: "/docs#problem-scoring-unavailable",
      title: "Scoring unavailable",
      status: 503,
      detail: "Not yet.",
    });
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(log.join()).toContain("a secret of the scorer");
    expect(read).toEqual([FIRST]);
  });

  it.each([
    [
      "before any work when the index follows none of them",
      { scores: { snapshot: async () => walletSnapshot({ followed: false, score: null }) } },
      404,
    ],
    ["when scoring fails for all", { scoreNow: async () => ({ kind: "not-indexed" }) as const }, 404],
    [
      "telling what may pass before what will not",
      {
        scoreNow: async (address: Address) =>
          address === FIRST
            ? ({ kind: "not-indexed" } as const)
            : ({ kind: "unavailable", detail: "Not yet.", retryAfterSeconds: 7 } as const),
      },
      503,
    ],
  ])("costs nothing where no wallet could be scored, %s", async (_name, changes, status) => {
    const { response, spent } = await batch([FIRST, SECOND], changes);
    expect([response.status, spent()]).toEqual([status, 0]);
  });

  it("scores what it can of wallets that the index does not follow", async () => {
    const { response } = await batch([FIRST, SECOND], {
      scores: {
        snapshot: async (address) =>
          walletSnapshot(address === SECOND ? { followed: false, score: null } : {}),
      },
    });
    const body = await bodyOf<Batch>(response);
    expect([body.count, body.errors.map(({ problem }) => problem.status)]).toEqual([1, [404]]);
  });

  it("reads the history of strangers where there is a source, but never for a listed wallet", async () => {
    const onDemand: Address[] = [];
    const { response } = await batch([FIRST, SECOND], {
      scores: {
        snapshot: async (address) =>
          walletSnapshot({ followed: false, score: null, sanctions: address === SECOND ? [LISTING] : [] }),
      },
      scoreOnDemand: async (address) => {
        onDemand.push(address);
        return { kind: "stored", row: storedScore({ wallet: address }) };
      },
    });
    expect([(await bodyOf<Batch>(response)).count, onDemand]).toEqual([2, [FIRST]]);
  });

  it.each([
    ["none of which is known", { known: [], status: 404, scored: [] }],
    ["one of which is known", { known: [SECOND], status: 200, scored: [SECOND] }],
  ] as const)(
    "reads no history for a payment of scheme upto, which is settled after the work, of wallets %s",
    async (_name, { known, status, scored }) => {
      const [asked, enrolled]: [Address[], Address[]] = [[], []];
      const { response, taken } = await batchOf("payer", [FIRST, SECOND], {
        taking: "metered",
        scores: {
          snapshot: async (address) => walletSnapshot({ followed: known.some((one) => one === address) }),
        },
        scoreNow: async (wallet) => {
          asked.push(wallet);
          return { kind: "stored", row: storedScore({ wallet }) };
        },
        scoreOnDemand: async () => {
          throw new Error("a history was read");
        },
        enrol: async (wallets) => void enrolled.push(...wallets),
      });
      expect([response.status, asked, enrolled, taken()]).toEqual([status, scored, [], scored.length]);
    },
  );

  it.each([
    ["a key", "key"],
    ["a payment that is settled first", "payer"],
  ] as const)("has those that it scored for the first time followed, for %s", async (_name, kind) => {
    const enrolled: Address[] = [];
    const { response } = await batchOf(kind, [FIRST, SECOND, THIRD], {
      scores: { snapshot: async (address) => walletSnapshot({ followed: address === FIRST }) },
      scoreOnDemand: async (wallet) =>
        wallet === THIRD ? { kind: "not-indexed" } : { kind: "stored", row: storedScore({ wallet }) },
      enrol: async (wallets) => void enrolled.push(...wallets),
    });
    expect([response.status, enrolled]).toEqual([200, [SECOND]]);
  });

  it("scores a few wallets at a time", async () => {
    let running = 0;
    let most = 0;
    const { response } = await batch(accounts(25), {
      scoreNow: async (address) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running -= 1;
        return { kind: "stored", row: storedScore({ wallet: address }) };
      },
    });
    expect([response.status, most]).toEqual([200, 8]);
  });
});
