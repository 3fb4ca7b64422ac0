import { createPublicClient, type Hex, http } from "viem";
import { roleAccounts } from "../../devnet/accounts.ts";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import { type Load, readMoney } from "../load/load.ts";
import type { Purchase } from "../load/purchases.ts";
import type { Stand } from "../stand/stand.ts";
import { compareCounts, doubled, type Finding, lost } from "./finding.ts";

/** Compares what the wallet signed and was answered with the token's own events and balances, and with our rows. */
export async function accountPayments(
  stand: Stand,
  { purchases, opening, besides }: Load,
): Promise<Finding[]> {
  const used = await transfersByNonce(stand);
  const isSharing = (purchase: Purchase) => sharesAnswer(purchase, { purchases: purchases.operations, used });
  const findings = purchases.operations
    .filter((purchase) => !isSharing(purchase))
    .flatMap((purchase) => accountPurchase(purchase, used));
  const paid = purchases.operations.filter(({ authorization }) => used.has(authorization?.nonce ?? ""));
  const amount = paid.reduce((sum, { authorization }) => sum + (authorization?.amount ?? 0n), 0n);
  const [before, now] = await Promise.all([opening, readMoney(stand)]);
  return [
    ...findings,
    ...compareCounts("USDC units that the wallet paid", {
      expected: Number(amount),
      found: Number(before.payer - now.payer),
    }),
    ...compareCounts("USDC units that were received", {
      expected: Number(amount + besides.received),
      found: Number(now.payee - before.payee),
    }),
    ...(await accountRows(
      stand,
      purchases.operations.filter((purchase) => !isSharing(purchase)),
    )),
  ];
}

/** Transactions of the wallet's authorizations. */
type Transfers = ReadonlyMap<string, readonly Hex[]>;

/** Whether a payment was not taken since its answer was owed for another payment of the same request, which its answer names. */
function sharesAnswer(
  { authorization, outcome, path, settledBy }: Purchase,
  { purchases, used }: { readonly purchases: readonly Purchase[]; readonly used: Transfers },
): boolean {
  if (authorization === null || outcome !== "answered" || settledBy === null) return false;
  if (used.has(authorization.nonce)) return false;
  return purchases.some(
    (other) => other.path === path && used.get(other.authorization?.nonce ?? "")?.includes(settledBy),
  );
}

function accountPurchase(purchase: Purchase, used: Transfers): Finding[] {
  const { authorization, outcome, path } = purchase;
  if (authorization === null) {
    return outcome === "open" ? [lost(`purchase of ${path} never received its 402 with the price`)] : [];
  }
  const { nonce } = authorization;
  const times = used.get(nonce)?.length ?? 0;
  const name = `payment ${nonce} for ${path}`;
  if (times > 1) return [doubled(`${name} moved ${times} times`)];
  if (outcome === "answered") return times === 1 ? [] : [lost(`${name} was answered and never moved`)];
  if (times === 1) return [lost(`${name} moved and was not answered (${outcome})`)];
  return outcome === "open" ? [lost(`${name} neither moved nor was answered`)] : [];
}

/** By the token's events. */
async function transfersByNonce(stand: Stand): Promise<Transfers> {
  const { rpcUrl, contracts } = stand.chain().test;
  const events = await createPublicClient({ transport: http(rpcUrl) }).getContractEvents({
    address: contracts.usdc,
    abi: usdCoinAbi,
    eventName: "AuthorizationUsed",
    args: { authorizer: roleAccounts().payer.address },
    fromBlock: 0n,
  });
  const used = new Map<string, Hex[]>();
  for (const { args, transactionHash } of events) {
    if (args.nonce !== undefined) used.set(args.nonce, [...(used.get(args.nonce) ?? []), transactionHash]);
  }
  return used;
}

async function accountRows(stand: Stand, purchases: readonly Purchase[]): Promise<Finding[]> {
  const { rows } = await stand.db.$client.query<{ nonce: string; state: string }>(
    "select nonce, state from ahs.payment where payer = $1",
    [roleAccounts().payer.address.toLowerCase()],
  );
  const states = new Map(rows.map(({ nonce, state }) => [nonce, state]));
  return purchases.flatMap(({ authorization, outcome }) => {
    if (authorization === null || outcome !== "answered") return [];
    const state = states.get(authorization.nonce) ?? "unknown";
    return state === "answered" ? [] : [lost(`payment ${authorization.nonce} was answered and is ${state}`)];
  });
}
