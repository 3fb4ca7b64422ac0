import {
  ANY_METHOD,
  type Attack,
  act,
  attacker,
  CHEAP_CALL_GAS,
  type Nuisance,
  oldMerchants,
  oldVenues,
} from "./attack.ts";
import { dilution, failures, hiddenFailures } from "./failure-attacks.ts";
import { burst, farm, ownAgedPayees, ownSignedPayments, sleeper, washRing } from "./forging-attacks.ts";
import { pester, strangersCall } from "./nuisance.ts";
import { freshContracts, ring, sybilUsers } from "./owned-attacks.ts";
import { approve, pay, payNative, work, wrap } from "./tasks.ts";
import { emptyCall, mixture, roundTrips, trivial, worthlessPayments } from "./trivial-attacks.ts";

/** Every attack of the evaluation, in the order of the report. */
export const ATTACKS: readonly Attack[] = [
  ring("five_wallets_week", {
    what: "five wallets of one owner, funded by one account, pay each other for a week",
    days: 7,
    funded: "together",
  }),
  ring("five_wallets_60_days", { what: "the same for 60 days", days: 60, funded: "together" }),
  ring("five_wallets_60_days_exchange", {
    what: "the same, each funded through an exchange",
    days: 60,
    funded: "apart",
  }),
  ring("five_wallets_60_days_aged", {
    what: "the same, each funded through an exchange and 60 days older than the first payment",
    days: 60,
    funded: "aged",
  }),
  {
    name: "self_transfers",
    what: "300 transfers to oneself in 60 days",
    bar: "at_most_d",
    stage: (stage) => {
      const wallet = attacker(stage);
      act(stage, wallet, { calls: 300, days: 60, tasks: [payNative(stage.world.market, wallet, () => 10)] });
      return { wallets: [wallet], extraGas: 0 };
    },
  },
  freshContracts("twenty_fresh_contracts", {
    what: "300 calls in 60 days to 20 contracts that the wallet made",
    by: "itself",
    aged: false,
  }),
  freshContracts("twenty_fresh_contracts_apart", {
    what: "the same, made by an account that an exchange funded",
    by: "another",
    aged: false,
  }),
  freshContracts("twenty_aged_contracts_apart", {
    what: "the same, made 60 days before the first call",
    by: "another",
    aged: true,
  }),
  trivial("trivial_approvals", {
    what: "1,000 approvals in 90 days",
    tasks: ({ world }) => [world.market.usdc, ...world.market.majors].map(approve),
  }),
  trivial("trivial_wraps", {
    what: "1,000 wraps of a few dollars in 90 days",
    tasks: ({ world }) => [wrap(world.market, 5)],
  }),
  trivial("trivial_dust", {
    what: "1,000 transfers of a tenth of a cent to established payees in 90 days",
    tasks: (stage) =>
      oldMerchants(stage, 8).map(({ address }) => pay(stage.world.market, address, () => 0.001)),
  }),
  trivial("trivial_empty_calls", {
    what: "1,000 calls of established contracts without value or effect in 90 days",
    tasks: (stage) => oldVenues(stage, 8).map(emptyCall),
  }),
  trivial("trivial_unpriced", {
    what: "1,000 transfers of a worthless token to established payees in 90 days",
    tasks: worthlessPayments,
  }),
  trivial("trivial_mixture", { what: "all of these in turn", tasks: mixture }),
  {
    name: "round_trips",
    what: "500 deposits of 20 dollars in established contracts, each taken back within the hour, in 90 days",
    bar: "at_most_d",
    stage: roundTrips,
  },
  {
    name: "sybil_users_captive",
    what: "ten sybils that do nothing but use the ten contracts that the wallet calls 300 times in 60 days",
    bar: null,
    stage: (stage) => sybilUsers(stage, { elsewhere: 0 }),
  },
  {
    name: "sybil_users_elsewhere",
    what: "the same sybils, half of whose calls go elsewhere",
    bar: null,
    forges: true,
    stage: (stage) => sybilUsers(stage, { elsewhere: 60 }),
  },
  {
    name: "clean_cheap_90_days",
    what: "five payments of two cents a day to established payees for 90 days, none of them failing",
    bar: null,
    forges: true,
    stage: (stage) => {
      const wallet = attacker(stage);
      const tasks = oldMerchants(stage, 8).map(({ address }) => pay(stage.world.market, address, () => 0.02));
      act(stage, wallet, { calls: 450, days: 90, tasks });
      return { wallets: [wallet], extraGas: 0 };
    },
  },
  {
    name: "failures_in_the_open",
    what: "500 calls of established contracts in 90 days, 40 % of which fail",
    bar: null,
    stage: failures,
  },
  {
    name: "failures_hidden",
    what: "the same through an own contract that swallows the failures",
    bar: null,
    forges: true,
    stage: hiddenFailures,
  },
  {
    name: "flood",
    what: "5,000 cheap calls of one established contract in one day",
    bar: null,
    stage: (stage) => {
      const wallet = attacker(stage);
      const tasks = oldVenues(stage, 1).map((venue) => work(venue, ANY_METHOD, CHEAP_CALL_GAS));
      act(stage, wallet, { calls: 5_000, days: 1, tasks });
      return { wallets: [wallet], extraGas: 0 };
    },
  },
  {
    name: "failures_diluted",
    what: "300 calls in 60 days half of which fail, then 5,000 cheap calls of one contract in the last ten days",
    bar: null,
    stage: dilution,
  },
  {
    name: "sleeper",
    what: "one call a week for six weeks, then 200 within six hours, all to established contracts",
    bar: null,
    forges: true,
    stage: sleeper,
  },
  {
    name: "farm_12",
    what: "twelve agents of one owner, each funded through an exchange, which in 75 days pay 24 payees of the owner's two cents 300 times each and vouch for each other by that",
    bar: null,
    forges: true,
    stage: (stage) => farm(stage, 12),
  },
  {
    name: "farm_36",
    what: "the same with 36 agents and 72 payees",
    bar: null,
    forges: true,
    stage: (stage) => farm(stage, 36),
  },
  {
    name: "burst_4_days",
    what: "a new wallet that makes 60 cheap calls of established contracts in four days",
    bar: null,
    forges: true,
    stage: (stage) => burst(stage, { days: 4, calls: 60 }),
  },
  {
    name: "burst_2_7_days",
    what: "the same with 258 calls in 2.7 days",
    bar: null,
    forges: true,
    stage: (stage) => burst(stage, { days: 2.7, calls: 258 }),
  },
  {
    name: "own_aged_payees",
    what: "700 payments of two cents in 75 days to two accounts of the owner's own that are months older and send the money back",
    bar: null,
    forges: true,
    stage: ownAgedPayees,
  },
  {
    name: "own_signed_payments",
    what: "the same by signed payments (x402), which a facilitator of the owner's own carries out in batches: the wallet pays no gas",
    bar: null,
    forges: true,
    stage: ownSignedPayments,
  },
  {
    name: "wash_ring",
    what: "six aged wallets, each funded through an exchange, that send the same 500 dollars round and round for 60 days and swap a little at a real venue",
    bar: null,
    forges: true,
    stage: washRing,
  },
  {
    name: "bought_backing",
    what: "a new wallet that pays busy payees 300 dollars in 30 payments within 30 days: an amount that is bought, not forged",
    bar: null,
    stage: (stage) => {
      const { market, places, days } = stage.world;
      const wallet = attacker(stage, { ageDays: 30 - days });
      const tasks = places.merchant.slice(0, 8).map(({ address }) => pay(market, address, () => 10));
      act(stage, wallet, { calls: 30, days: 30, tasks });
      return { wallets: [wallet], extraGas: 0 };
    },
  },
];

/** Attacks of strangers on a wallet. */
export const NUISANCES: readonly Nuisance[] = [
  {
    name: "airdrops",
    what: "hundreds of spam tokens and dust, and a gift of a million dollars, for a sound agent",
    harass: pester,
  },
  {
    name: "strangers_calling",
    what: "1,000 calls and cents from strangers to a sound agent",
    harass: strangersCall,
  },
];
