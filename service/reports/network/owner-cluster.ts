import type { ClientBase } from "pg";
import type { Address } from "viem";
import { linkToOwner, type OwnerQuestion } from "../../model/features/find-owners.ts";
import type { OwnerLink } from "../../model/features/types.ts";
import { ownerWalk, type WalkRow } from "./owner-cluster.sql.ts";
import { type NetworkQuery, readOwnerQuestion } from "./wallet-network-graph.ts";

/** One link of two accounts: `from` created or first funded `to`; of mutual funding each is either. */
type OwnerEvidence = {
  readonly kind: Exclude<OwnerLink, "itself">;
  readonly from: Address;
  readonly to: Address;
};

/** A followed wallet of an owner cluster. */
export type OwnerWallet = {
  readonly address: Address;
  /** The last own call that the index holds; null without one. */
  readonly lastActiveAt: Date | null;
  readonly link: OwnerLink;
  /** The links from it to the wallet that was asked about, nearest first; empty for that wallet. */
  readonly evidence: readonly OwnerEvidence[];
};

/** The followed wallets of an owner cluster, the wallet that was asked about first. */
export type OwnerCluster = {
  readonly wallets: readonly OwnerWallet[];
  /** Followed wallets that the walk found beyond those that were examined. */
  readonly leftOut: number;
  /** Whether accounts have more links than are read: there may be more wallets. */
  readonly cut: boolean;
};

/** Reads the owner cluster of a followed wallet as the model finds it, among accounts that creators and funders lead to. */
export async function readOwnerCluster(
  client: ClientBase,
  network: Omit<NetworkQuery, "accounts">,
): Promise<OwnerCluster> {
  const { chainId, wallet, publicFunders } = network;
  const { rows } = await client.query<WalkRow>(
    ownerWalk(chainId, { wallet, publicFunders: [...publicFunders] }),
  );
  const accounts = rows.map(({ address }) => address);
  const question = await readOwnerQuestion(client, { ...network, accounts });
  const links = linkToOwner(question);
  const activity = new Map(rows.map(({ address, lastCallAt }) => [address, lastCallAt]));
  const members = [wallet, ...accounts.filter((account) => account !== wallet && links.has(account))];
  const found = rows[0]?.found ?? 0;
  return {
    wallets: members.map((address) => ({
      address,
      lastActiveAt: dateOf(activity.get(address) ?? null),
      link: links.get(address)?.by ?? "itself",
      evidence: evidenceOf(address, links, question),
    })),
    leftOut: Math.max(0, found - rows.length),
    cut: rows[0]?.cut ?? false,
  };
}

/** Follows the links of an account back to the wallet: each leads one step nearer to it. */
function evidenceOf(
  account: Address,
  links: ReturnType<typeof linkToOwner>,
  { facts }: Pick<OwnerQuestion, "facts">,
): readonly OwnerEvidence[] {
  const evidence: OwnerEvidence[] = [];
  let [current, link] = [account, links.get(account)];
  while (link !== undefined && link.by !== "itself") {
    const fact = facts.get(current);
    const parent = link.by === "creator" ? fact?.creator : fact?.firstFunder;
    const [from, to] = parent === link.to ? [link.to, current] : [current, link.to];
    evidence.push({ kind: link.by, from, to });
    [current, link] = [link.to, links.get(link.to)];
  }
  return evidence;
}

function dateOf(seconds: number | null): Date | null {
  return seconds === null ? null : new Date(seconds * 1_000);
}
