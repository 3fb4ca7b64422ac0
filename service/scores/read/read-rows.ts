import type { ClientBase } from "pg";
import type { Address, Hex } from "viem";
import { addressesIn, type ChainFacts } from "../../chain/deployments.ts";
import { lowerCase } from "../../db/columns.ts";
import { readLiveApprovals } from "../../ingest/enrich/enrich-approvals.ts";
import { cutCoverage } from "../../model/features/call-line.ts";
import { firstAddressesOf } from "../../model/features/describe-counterparties.ts";
import { dayOf, SECONDS_PER_DAY } from "../../model/features/time.ts";
import type {
  AsOf,
  DailyPrice,
  ListedToken,
  OpenApproval,
  SanctionsFlag,
  TokenList,
  WalletRows,
} from "../../model/features/types.ts";
import type { SanctionsEntry } from "../../sanctions/sanctions.ts";
import { rowsHead } from "../inputs-hash.ts";
import type { ContactCache } from "./contact-graph.ts";
import { type CallLines, createTextReader, digestText, readCallTexts } from "./read-calls.ts";
import { readCounterparties } from "./read-counterparties.ts";
import { readWalletFacts, type WalletFacts, type WalletsQuery } from "./read-wallets.ts";

/** Inputs that are the same for all wallets of a snapshot. */
export type SharedInputs = {
  readonly sanctions: readonly SanctionsEntry[];
  readonly tokens: TokenList;
};

type RowsRequest = WalletsQuery & {
  readonly chain: Pick<ChainFacts, "accounts">;
  readonly shared: SharedInputs;
  readonly contacts: ContactCache;
  /** For reports: accounts to describe of each wallet at most, see `firstAddressesOf`. A score looks at all of them. */
  readonly mostAddresses?: number;
};

/** The rows of a wallet, and the digest that `rowsDigest` makes of them. */
export type ReadRows = { readonly rows: WalletRows; readonly digest: Hex };

/** An ERC-20 allowance of half of all numbers and more is one without limit, however much of it was spent. */
const UNLIMITED = 2n ** 255n;

/**
 * Rows of the given wallets, calls sorted, in no particular order; wallets that were not followed by then and that no
 * history source reported are left out. Consistent only within one REPEATABLE READ transaction, which the caller opens.
 */
export async function readWalletRows(client: ClientBase, request: RowsRequest): Promise<readonly ReadRows[]> {
  const { chainId, point, policy } = request;
  const facts = await readWalletFacts(client, request);
  const texts = await readCallTexts(client, {
    chainId,
    // Calls from before the coverage are of a slice of the past that is not read to its end.
    wallets: facts.flatMap(({ address, windowStart, coverage }) =>
      windowStart === null ? [] : [{ address, since: Math.max(windowStart, coverage.fromTimestamp) }],
    ),
    throughBlock: point.enriched.blockNumber,
  });
  const approvals = await readOpenApprovals(client, request);
  const readText = createTextReader();
  const wallets = facts.map((wallet): ReadWallet => {
    const read = readText(texts.get(wallet.address));
    const open = wallet.pastOpen ? null : (approvals.get(wallet.address) ?? []);
    const { calls } = read;
    const most = request.mostAddresses ?? Number.POSITIVE_INFINITY;
    const { delegation } = wallet;
    const first = firstAddressesOf({ calls, approvals: open, delegation, most });
    return { facts: wallet, read, approvals: open, ...first };
  });
  const flags = flagsOf(request);
  const counterparties = await readCounterparties(client, {
    chainId,
    cache: request.contacts,
    publicFunders: addressesIn(request.chain.accounts.publicFunders),
    popularContracts: addressesIn(request.chain.accounts.popularContracts ?? []),
    flags: flags.counterparties,
    policy,
    wallets: wallets.map((wallet) => ({
      wallet: wallet.facts.address,
      addresses: wallet.addresses,
      windowStart: wallet.facts.windowStart ?? point.asOf.timestamp - policy.window.days * SECONDS_PER_DAY,
      reportedCalls: wallet.facts.hasHistory ? wallet.read.calls : [],
    })),
  });
  return wallets.map((wallet, place) =>
    toRows(wallet, {
      chainId,
      tokens: request.shared.tokens,
      counterparties: counterparties[place] ?? [],
      sanctions: flags.own.get(wallet.facts.address) ?? [],
    }),
  );
}

type ReadWallet = {
  readonly facts: WalletFacts;
  readonly read: CallLines;
  readonly approvals: readonly OpenApproval[] | null;
  readonly addresses: ReadonlySet<Address>;
  readonly leftOut: number;
};

function toRows(
  { facts, read, approvals, leftOut }: ReadWallet,
  rest: Pick<WalletRows, "chainId" | "tokens" | "counterparties" | "sanctions">,
): ReadRows {
  const rows: WalletRows = {
    ...rest,
    wallet: facts.address,
    calls: read.calls,
    approvals,
    delegation: facts.delegation,
    servicesUpAt: facts.servicesUpAt,
    coverage: read.cut ? cutCoverage(facts.coverage, read.calls[0]) : facts.coverage,
    chainStartTimestamp: facts.chainStartTimestamp,
    ...(leftOut === 0 ? {} : { accountsLeftOut: leftOut }),
  };
  return { rows, digest: digestText(rowsHead(rows), read.text) };
}

/** Approvals without limit that each wallet gave and that are still in force. */
async function readOpenApprovals(
  client: ClientBase,
  { chainId, wallets }: RowsRequest,
): Promise<ReadonlyMap<Address, readonly OpenApproval[]>> {
  const open = new Map<Address, OpenApproval[]>();
  for (const approval of await readLiveApprovals(client, { chainId, wallets })) {
    const { owner, token, spender, kind, amount, timestamp } = approval;
    if (kind === "token") continue;
    if (kind === "amount" && (amount === null || amount < UNLIMITED)) continue;
    const known = open.get(owner);
    const own = { token, spender, kind, approvedAt: timestamp };
    if (known === undefined) open.set(owner, [own]);
    else known.push(own);
  }
  return open;
}

function flagsOf({ shared, chain }: RowsRequest) {
  const mixers = [...addressesIn(chain.accounts.mixers)].map((mixer) => [mixer, "mixer"] as const);
  const listed = shared.sanctions.map(({ address }) => [address, "sanctioned"] as const);
  return { own: flagsByAddress(shared.sanctions), counterparties: new Map([...mixers, ...listed]) };
}

/** The flags of each listed address, in the order of the list. */
export function flagsByAddress(
  entries: readonly SanctionsEntry[],
): ReadonlyMap<Address, readonly SanctionsFlag[]> {
  const byAddress = Map.groupBy(entries, ({ address }) => address);
  const flagsIn = (listed: readonly SanctionsEntry[]) => listed.map(({ address: _, ...flag }) => flag);
  return new Map([...byAddress].map(([address, listed]) => [address, flagsIn(listed)]));
}

const MICRO_DECIMALS = 6;

/**
 * The tokens of a deployment with their prices on the days before the block's, or on the first day with one where there is
 * none before: a day's price is final once the day is over, so that there is one list a day.
 */
export async function readTokenList(
  client: ClientBase,
  query: { readonly chainId: number; readonly market: ChainFacts["market"]; readonly enriched: AsOf },
): Promise<TokenList> {
  const { native, tokens } = query.market;
  const feeds = [native, ...tokens].flatMap(({ feed }) => (feed === null ? [] : [lowerCase(feed)]));
  const { rows } = await client.query({
    name: "token-list",
    text: `select feed, day, answer::text, decimals from ahs.feed_price
           where chain_id = $1 and feed = any($2::text[]) and block <= $3 order by feed, day`,
    values: [query.chainId, feeds, query.enriched.blockNumber],
    rowMode: "array",
  });
  const prices = new Map<string, DailyPrice[]>();
  for (const [feed, day, answer, decimals] of rows as [string, number, string, number][]) {
    const known = prices.get(feed);
    const price: DailyPrice = [day, toMicroUsd(BigInt(answer), decimals)];
    if (known === undefined) prices.set(feed, [price]);
    else if (day < dayOf(query.enriched.timestamp)) known.push(price);
  }
  const listed = <Token extends ChainFacts["market"]["native"]>(token: Token) => ({
    symbol: token.symbol,
    decimals: token.decimals,
    prices: token.feed === null ? [] : (prices.get(lowerCase(token.feed)) ?? []),
  });
  return {
    native: listed(native),
    tokens: tokens
      .map((token): ListedToken => ({ address: lowerCase(token.address), ...listed(token) }))
      .sort((a, b) => (a.address < b.address ? -1 : 1)),
  };
}

/** Millionths of a US dollar, rounded half up; prices are never negative. */
function toMicroUsd(answer: bigint, decimals: number): number {
  if (decimals <= MICRO_DECIMALS) return Number(answer * 10n ** BigInt(MICRO_DECIMALS - decimals));
  const unit = 10n ** BigInt(decimals - MICRO_DECIMALS);
  return Number((answer + unit / 2n) / unit);
}
