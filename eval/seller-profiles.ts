import type { Address } from "viem";
import { describesSeller, type Receipt, sellerProfile } from "../service/model/backing/seller-profile.ts";
import { findOwners, payersBackIn } from "../service/model/features/find-owners.ts";
import { weekOf } from "../service/model/features/time.ts";
import type { AccountFact, ContactGraph } from "../service/model/features/types.ts";
import { listOf } from "./ledger.ts";
import type { World } from "./world.ts";

/** A function that says whether a seller profile describes a wallet, by what it was paid until a moment. */
export function sellersOf(
  world: World,
  {
    at,
    graph,
    facts,
  }: {
    readonly at: number;
    readonly graph: ContactGraph;
    readonly facts: ReadonlyMap<Address, AccountFact>;
  },
): (wallet: Address) => boolean {
  const publicFunders = new Set(world.publicFunders);
  // Read at the first question: most observers get none.
  let receipts: ReadonlyMap<Address, readonly Receipt[]> | null = null;
  return (wallet) => {
    receipts ??= receiptsUntil(world, at);
    const own = receipts.get(wallet) ?? [];
    const { cluster, groups } = findOwners({
      wallet,
      graph,
      facts,
      publicFunders,
      addresses: [...new Set(own.map(({ payer }) => payer))].sort(),
      payersBack: payersBackIn(graph.usersOf, wallet),
    });
    const profile = sellerProfile({
      wallet,
      receipts: own,
      paidTo: new Map(),
      jobs: [],
      feedback: null,
      clusterOf: (account) => (cluster.has(account) ? wallet : (groups.get(account) ?? account)),
      costBasisOf: () => 0n,
    });
    return describesSeller(profile);
  };
}

/** Payments by payee, withdrawals from public funders and mixers left out. */
function receiptsUntil(
  { ledger, publicFunders, mixer }: World,
  at: number,
): ReadonlyMap<Address, readonly Receipt[]> {
  const funders = new Set([...publicFunders, mixer]);
  const receipts = new Map<Address, Receipt[]>();
  const receive = (payee: Address, payer: Address, { time, usd }: { time: number; usd: bigint }) => {
    if (time > at || usd === 0n || funders.has(payer)) return;
    listOf(receipts, payee).push({ payer, week: weekOf(time), microUsd: usd });
  };
  for (const { account, counterparty, time, sentMicroUsd } of ledger.dealings)
    receive(counterparty, account, { time, usd: sentMicroUsd });
  for (const { authorizer, payee, time, usd } of ledger.authorizations)
    receive(payee, authorizer, { time, usd: BigInt(Math.round(usd * 1e6)) });
  return receipts;
}
