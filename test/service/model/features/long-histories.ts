import fc from "fast-check";
import { addressesOf } from "../../../../service/model/features/describe-counterparties.ts";
import type { CounterpartyFact, OpenApproval, WalletRows } from "../../../../service/model/features/types.ts";
import {
  account,
  callsOf,
  DAY,
  fact,
  GWEI,
  payment,
  randomFrom,
  rowsOf,
  START,
  type Step,
  USDC,
} from "./histories.ts";

/** Rows of a wallet with a hundred calls or more, and the same rows with one more call within a day of the last one. */
export type OneMoreCall = { readonly before: WalletRows; readonly after: WalletRows };

const PARTIES = 6;
const NEWCOMER = account(2900);
const SPAM = account(0xd7);

const factParts = fc.constantFrom<Partial<CounterpartyFact>>(
  {},
  { outsideUsers: 3 },
  { outsideUsers: 0 },
  { outsideUsers: 0, existedAt: null },
  { outsideUsers: 0, existedAt: null, fundedFromOutside: null },
  { ownerLink: "creator" },
);

const failing = fc.constantFrom(0, 0, 0.02, 0.1, 0.3, 0.6, 1);
const market = fc.constantFrom<bigint | null>(GWEI, GWEI, null);
/** Prices paid over the market's, in percent. */
const price = fc.constantFrom(100n, 100n, 130n, 200n, 400n, 900n);
const gas = fc.constantFrom(21_000n, 70_000n, 300_000n, 3_000_000n);
/** Gas limits over gas used. */
const limit = fc.constantFrom(1n, 2n, 20n);
const kind = fc.constantFrom(
  "call",
  "call",
  "payment",
  "cents",
  "coin",
  "approval",
  "purchase",
  "sale",
  "prize",
);

/** A stretch of calls of one manner. */
const phase = fc.record({
  pauseDays: fc.constantFrom(0, 0, 1, 20, 90),
  days: fc.constantFrom(1, 7, 30, 90),
  calls: fc.constantFrom(1, 3, 10, 30, 100),
  parties: fc.integer({ min: 1, max: PARTIES }),
  methods: fc.constantFrom(1, 4),
  ...{ failing, market, price, gas, limit, kind },
  read: fc.constantFrom(true, true, true, false),
});

const lastCall = fc.record({
  after: fc.constantFrom(1, 600, DAY / 2, DAY),
  party: fc.integer({ min: 0, max: PARTIES }),
  ok: fc.boolean(),
  ...{ market, price, gas, limit, kind },
  read: fc.constantFrom(true, true, true, false),
});

type Manner = {
  readonly kind: string;
  readonly market: bigint | null;
  readonly price: bigint;
  readonly gas: bigint;
  readonly limit: bigint;
  readonly read: boolean;
};

function stepOf(
  at: number,
  party: number,
  { method, ok, ...manner }: Manner & { readonly method: number; readonly ok: boolean },
): Step {
  const to = party === PARTIES ? NEWCOMER : account(2000 + party);
  const common = {
    ok,
    read: manner.read,
    marketPrice: manner.market,
    gasPrice: (GWEI * manner.price) / 100n,
    gasUsed: manner.gas,
    gasLimit: manner.gas * manner.limit,
  };
  const call: Step = { at, to, selector: `0x0000000${method}`, emitters: [to], ...common };
  if (manner.kind === "prize") return racedFor(call);
  // A failed call leaves no logs.
  if (!ok && manner.kind !== "payment" && manner.kind !== "cents" && manner.kind !== "coin")
    return { ...call, effect: "none", emitters: [] };
  switch (manner.kind) {
    case "payment":
      return paid(payment(at, to, 5_000_000n), common);
    case "cents":
      return paid(payment(at, to, 2_000n), common);
    case "coin":
      return { at, to, selector: null, value: 10n ** 16n, effect: "none", ...common };
    case "approval":
      return { ...call, selector: "0x095ea7b3", effect: "approval" };
    case "purchase":
      return { ...call, emitters: [USDC, SPAM], moves: trade(-9_000_000n, 10n ** 18n) };
    case "sale":
      return { ...call, emitters: [USDC, SPAM], moves: trade(9_000_000n, -(10n ** 18n)) };
    default:
      return call;
  }
}

/** A race: the winner takes dollars, and the loser reverts at once. */
function racedFor(step: Step): Step {
  if (step.ok !== false) return { ...step, moves: [{ token: USDC, amount: 9_000_000n }] };
  return { ...step, gasUsed: (step.gasUsed ?? 0n) / 4n, effect: "none", emitters: [] };
}

function paid(step: Step, common: Partial<Step> & { readonly ok: boolean }): Step {
  return common.ok ? { ...step, ...common } : { ...step, ...common, effect: "none", emitters: [], moves: [] };
}

function trade(dollars: bigint, tokens: bigint) {
  return [
    { token: USDC, amount: dollars },
    { token: SPAM, amount: tokens },
  ];
}

/** Any wallet of at least a hundred calls, of up to four manners one after the other, and one more call of any kind. */
export const oneMoreCall: fc.Arbitrary<OneMoreCall> = fc
  .record({
    phases: fc.array(phase, { minLength: 1, maxLength: 4 }),
    facts: fc.array(factParts, { minLength: PARTIES + 1, maxLength: PARTIES + 1 }),
    last: lastCall,
    seed: fc.nat(),
  })
  .map(({ phases, facts, last, seed }) => {
    const random = randomFrom(seed);
    const steps: Step[] = [];
    let end = START;
    const missing = Math.max(0, 100 - phases.reduce((sum, { calls }) => sum + calls, 0));
    for (const [position, one] of phases.entries()) {
      const begin = end + one.pauseDays * DAY + 600;
      const calls = position === 0 ? one.calls + missing : one.calls;
      for (let call = 0; call < calls; call++) {
        const at = begin + Math.floor(((call + random()) * one.days * DAY) / calls);
        const party = Math.floor(random() ** 2 * one.parties);
        const method = Math.floor(random() * one.methods);
        steps.push(stepOf(at, party, { ...one, method, ok: random() >= one.failing }));
        end = Math.max(end, at);
      }
    }
    const added = stepOf(end + last.after, last.party, { ...last, method: 0 });
    const spender = account(2800);
    const opened: readonly OpenApproval[] =
      last.ok && last.kind === "approval"
        ? [{ token: USDC, spender, kind: "amount", approvedAt: added.at }]
        : [];
    const known = new Map(
      facts.map((parts, party) => [party === PARTIES ? NEWCOMER : account(2000 + party), parts]),
    );
    const rowsWith = (all: readonly Step[], approvals: readonly OpenApproval[]) => {
      const calls = callsOf(all);
      const counterparties = [...addressesOf(calls, approvals)].map((address) =>
        address === SPAM || address === spender
          ? fact(address, { outsideUsers: 0, existedAt: null })
          : fact(address, known.get(address)),
      );
      return rowsOf(calls, { approvals, counterparties });
    };
    return { before: rowsWith(steps, []), after: rowsWith([...steps, added], opened) };
  });
