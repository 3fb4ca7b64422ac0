import type { Address } from "viem";
import type { Owners } from "../../model/features/find-owners.ts";

/** The cluster of each account of a map: the lowest address of those that share its owner; null where nothing links it to another. */
export function clusterIds(
  owners: Owners,
  accounts: Iterable<Address>,
): (address: Address) => Address | null {
  const members = [...owners.cluster.keys()].sort();
  const own = members.length > 1 ? (members[0] ?? null) : null;
  const ids = new Map<Address, Address | null>();
  for (const account of accounts) {
    ids.set(account, owners.cluster.has(account) ? own : (owners.groups.get(account) ?? null));
  }
  return (address) => ids.get(address) ?? null;
}
