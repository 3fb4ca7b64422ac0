import type { ClientBase } from "pg";
import type { Address } from "viem";
import { linkToOwner, type OwnerQuestion } from "../../model/features/find-owners.ts";
import type { OwnerLink } from "../../model/features/types.ts";
import { MAX_GENERATIONS, type NetworkQuery, readOwnerQuestion } from "./wallet-network-graph.ts";

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

/** Wallets examined, the wallet itself included. */
const MAX_WALLETS = 100;
/** Accounts that one account created, and that it first funded: the first ones by address. */
const MAX_CHILDREN = 500;
/** Accounts walked over in all. */
const MAX_WALKED = 5_000;
/** Senders of the wallet: with more, no account sent it most of its funds. */
const MAX_FUNDERS = 500;

/** Reads the owner cluster of a followed wallet as the model finds it, among accounts that creators and funders lead to. */
export async function readOwnerCluster(
  client: ClientBase,
  network: Omit<NetworkQuery, "accounts">,
): Promise<OwnerCluster> {
  const { chainId, wallet, publicFunders } = network;
  const { rows } = await client.query<WalkRow>({
    name: `owner-cluster-${chainId}`,
    text: walkStatement(chainId),
    values: [chainId, wallet, [...publicFunders], MAX_WALLETS],
  });
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

type WalkRow = {
  readonly address: Address;
  /** Unix seconds. */
  readonly lastCallAt: number | null;
  /** Followed wallets on the whole walk. */
  readonly found: number;
  readonly cut: boolean;
};

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

/** As `parentsOf` of the model: a contract belongs to its creator, another account to its first funder. */
const [BY_CREATOR, BY_FUNDER] = ["creator", "first_funder"].map(
  (column) => `(f.${column} is not null and f.${column} <> f.address and f.${column} <> all($3::text[]))`,
);

/**
 * Walks from the wallet to its ancestors and its main funder, and from each of these to all that it created or first funded, the
 * nearest first. The wallet's own payees are only walked to if they sent something back. `place` shows where children are left out.
 * "between" takes the place of "=", since its order comes from one index alone: by "=" the planner may read all accounts by address.
 */
function walkStatement(chainId: number): string {
  const children = (column: "creator" | "first_funder") => `
    select f.*, row_number() over (order by f.address) as place from (
      select address, creator, first_funder from ahs.account_fact
      where chain_id = $1 and ${column} between family.address and family.address
      order by ${column}, address limit ${MAX_CHILDREN + 1}
    ) as f`;
  return `
    with recursive line (address, depth) as (
      select $2::text, 0
      union all
      select case when ${BY_CREATOR} then f.creator else f.first_funder end, line.depth + 1
      from line join ahs.account_fact as f on f.chain_id = $1 and f.address = line.address
      where line.depth < ${MAX_GENERATIONS} and line.address <> all($3::text[]) and (${BY_CREATOR} or ${BY_FUNDER})
    ), partner as (
      select account as address from (
        select account, sent_micro_usd as sent, sum(sent_micro_usd) over () as total, count(*) over () as senders from (
          select account, sent_micro_usd from ahs.contact
          where chain_id = $1 and counterparty between $2 and $2 order by counterparty, account limit ${MAX_FUNDERS + 1}
        ) as first
      ) as funder
      where senders <= ${MAX_FUNDERS} and 2 * sent > total and account <> all($3::text[])
    ), family (address, place) as (
      select address, 0::bigint from (select address from line union all select address from partner) as start
      union
      select child.address, child.place
      from family cross join lateral (
        select address, place from (${children("creator")}) as f
        union all
        select address, place from (${children("first_funder")}) as f
        where not ${BY_CREATOR} and (family.address <> $2 or exists (
          select from ahs.contact as back where back.chain_id = $1 and back.counterparty = $2 and back.account = f.address))
      ) as child
      where family.address <> all($3::text[])
    ), walked as (
      select address, place, row_number() over () as turn from (select * from family limit ${MAX_WALKED + 1}) as first
    ), followed as (
      select w.address, w.last_call_at, min(walked.turn) as turn
      from walked join "chain_${chainId}".wallet as w on w.address = walked.address group by 1, 2
    )
    select address, greatest(last_call_at, (
        select c.timestamp from ahs.own_call c where c.chain_id = $1 and c.wallet = followed.address
        order by c.block desc, c.transaction_index desc, c.position desc limit 1
      ))::float8 as "lastCallAt", (count(*) over ())::int as found,
      (select count(*) > ${MAX_WALKED} or bool_or(place > ${MAX_CHILDREN}) from walked) as cut
    from followed order by address <> $2, turn limit $4`;
}
