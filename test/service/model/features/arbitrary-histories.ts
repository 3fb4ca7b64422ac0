import fc from "fast-check";
import { addressesOf } from "../../../../service/model/features/describe-counterparties.ts";
import type {
  CounterpartyFact,
  OpenApproval,
  OwnCall,
  TokenMove,
  WalletRows,
} from "../../../../service/model/features/types.ts";
import {
  account,
  callsOf,
  DAY,
  GWEI,
  HOUR,
  rowsOf,
  START,
  type Step,
  TRANSFER,
  USDC,
  WALLET,
} from "./histories.ts";

const gap = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 5, max: 900 }) },
  { weight: 5, arbitrary: fc.integer({ min: 900, max: 12 * HOUR }) },
  { weight: 2, arbitrary: fc.integer({ min: 12 * HOUR, max: 6 * DAY }) },
);

/** Contracts and people that the wallet deals with. */
const someone = fc.integer({ min: 2000, max: 2005 }).map(account);

const move: fc.Arbitrary<TokenMove> = fc.record({
  token: fc.constantFrom(USDC, account(0xd0), account(0xd1)),
  amount: fc.bigInt({ min: -3_000_000n, max: 3_000_000n }).filter((amount) => amount !== 0n),
});

const receipt = fc.record({
  effect: fc.constantFrom("none", "approval", "wrap", "transfer", "other", "other", "other"),
  emitters: fc.uniqueArray(someone, { maxLength: 3 }),
  moves: fc
    .uniqueArray(move, { maxLength: 2, selector: ({ token }) => token })
    .map((moves) => moves.toSorted((a, b) => (a.token < b.token ? -1 : 1))),
  marketPrice: fc.constantFrom(null, 0n, GWEI, 3n * GWEI),
  read: fc.boolean().map((first) => first || undefined),
});

const target = fc.oneof(
  { weight: 10, arbitrary: someone.map((to) => ({ to })) },
  { weight: 1, arbitrary: fc.constant({ to: WALLET }) },
  { weight: 1, arbitrary: fc.constant({ to: null }) },
  {
    weight: 3,
    arbitrary: fc.record({
      to: fc.constant(USDC),
      selector: fc.constant(TRANSFER),
      recipient: someone,
      amount: fc.bigInt({ min: 0n, max: 30_000n }),
    }),
  },
);

const step = fc.record({
  gap,
  target,
  receipt,
  position: fc.constantFrom(0, 0, 1),
  selector: fc.constantFrom("0x00000001", "0x00000002", null),
  ok: fc.integer({ min: 0, max: 9 }),
  value: fc.constantFrom(0n, 0n, 1n, 10n ** 16n),
  gasPrice: fc.bigInt({ min: 1n, max: 9n * GWEI }),
  gasUsed: fc.bigInt({ min: 21_000n, max: 900_000n }),
  slack: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 3_000_000n })),
});

/** Histories of all shapes: bursts, silences, payments, trades, own calls and creations, from never failing to always failing. */
const anyHistory: fc.Arbitrary<readonly OwnCall[]> = fc
  .record({
    steps: fc.array(step, { minLength: 1, maxLength: 90, size: "max" }),
    // Failures per ten calls, so that every level of health comes up.
    failing: fc.constantFrom(0, 1, 1, 2, 4, 8, 10),
  })
  .map(({ steps, failing }) => {
    let at = START;
    return callsOf(
      steps.map(({ gap: pause, target: whom, receipt: shown, ok, gasUsed, slack, ...parts }): Step => {
        at += pause;
        const { read, ...logs } = shown;
        return {
          ...parts,
          ...whom,
          ...logs,
          at,
          ok: ok >= failing,
          gasUsed,
          gasLimit: gasUsed + slack,
          ...(read === undefined ? { read: ok % 3 > 0 } : {}),
        };
      }),
    );
  });

const factParts: fc.Arbitrary<Omit<CounterpartyFact, "address">> = fc.record(
  {
    ownerLink: fc.constantFrom(null, null, null, null, "creator" as const),
    hasCode: fc.constantFrom(true, false, null),
    existedAt: fc.constantFrom(null, START - 90 * DAY, START + DAY),
    fundedFromOutside: fc.constantFrom(true, false, null),
    firstContactAt: fc.constantFrom(null, START),
    outsideUsers: fc.constantFrom(0, 1, 2, 3, 6, 30),
    flag: fc.constantFrom(null, null, null, null, "mixer" as const, "sanctioned" as const),
    mergedWith: fc.constant(account(2000)),
  },
  {
    requiredKeys: [
      "ownerLink",
      "hasCode",
      "existedAt",
      "fundedFromOutside",
      "firstContactAt",
      "outsideUsers",
      "flag",
    ],
  },
);

const approval: fc.Arbitrary<OpenApproval> = fc.record({
  token: fc.constantFrom(USDC, account(0xd0)),
  spender: someone,
  kind: fc.constantFrom("amount", "all"),
  approvedAt: fc.integer({ min: START, max: START + 60 * DAY }),
});

/** Whole rows around such histories: counterparties of every standing, approvals, delegations and services. */
export const anyRows: fc.Arbitrary<WalletRows> = fc
  .record({
    calls: anyHistory,
    facts: fc.array(factParts, { minLength: 12, maxLength: 12 }),
    approvals: fc.option(fc.array(approval, { maxLength: 4 }), { freq: 5 }),
    delegation: fc.constantFrom({ to: null }, { to: null }, { to: account(2001) }, null),
    servicesUpAt: fc.constantFrom(null, START + 500 * DAY),
  })
  .map(({ calls, facts, ...parts }) =>
    rowsOf(calls, {
      ...parts,
      counterparties: [...addressesOf(calls, parts.approvals, parts.delegation)]
        .sort()
        .flatMap((address, position) => {
          const known = facts[position % facts.length];
          return known === undefined ? [] : [{ address, ...known }];
        }),
    }),
  );
