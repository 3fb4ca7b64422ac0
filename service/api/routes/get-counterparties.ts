import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { OwnerLink, WalletRows } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { AccountDetail } from "../../reports/labels/chain-labels.ts";
import { chainLabels, type KnownAccounts } from "../../reports/labels/chain-labels.ts";
import {
  type Counterparty,
  directionOf,
  pageOf,
  type Ranked,
  type Volume,
} from "../../reports/network/counterparties.ts";
import type { PinnedBlock } from "../../reports/network/wallet-network-dealings.ts";
import type { DealingsNeeds, FoundDealings } from "../kit/dealings-cache.ts";
import { readNewestDealings, requireRead } from "../kit/dealings-cache.ts";
import { definePaid } from "../kit/endpoint.ts";
import { ValidationFailed, valueFault } from "../kit/validation-failed.ts";
import type { ReadableNeeds } from "../kit/wallet-report.ts";
import { reportScope, requireReadable } from "../kit/wallet-report.ts";
import type { AccountNeeds } from "../schemas/report-parts.ts";
import { addressParams, fieldsOf, isoOf, laxInteger, toEip55, toUsd } from "../schemas/values.ts";
import {
  type CounterpartiesAnswer,
  counterpartiesSchema,
  counterpartySchema,
  MAX_PAGE,
  totalsSchema,
} from "./get-counterparties-schema.ts";

/** Services of the endpoint. */
type Needs = ReadableNeeds &
  DealingsNeeds &
  AccountNeeds & {
    /** Links of accounts to the wallet's owner; accounts without a link are left out. */
    readonly readOwnerLinks: (
      wallet: Address,
      accounts: readonly Address[],
    ) => Promise<ReadonlyMap<Address, OwnerLink>>;
    readonly policy: Policy;
  };

/** Ranked in a list of counterparties, with the block of all its pages and the digest of the list. */
type Cursor = {
  readonly wallet: Address;
  readonly block: PinnedBlock;
  readonly after: Ranked;
  /** Digest of the whole list, see `listDigest`. */
  readonly digest: string;
};

const address = z.custom<Address>((value) => typeof value === "string" && /^0x[0-9a-f]{40}$/.test(value));
const hash = z.custom<PinnedBlock["blockHash"]>(
  (value) => typeof value === "string" && /^0x[0-9a-f]{64}$/.test(value),
);

const whole = z.int().nonnegative();
const digestText = z.string().regex(/^[0-9a-f]{16}$/);

/** Version, wallet, block number, block hash, then of the last entry: own calls, micro-USD received, address; last the digest of the list. */
const fields = z.tuple([z.literal(2), address, whole, hash, whole, whole, address, digestText]);

const MAX_CHARACTERS = 500;

/** The cursor in text form. It is unsigned, because it only selects another page of a paid list. */
export function encodeCursor({ wallet, block, after, digest }: Cursor): string {
  const { calls, broughtMicroUsd, address } = after;
  const parts = [2, wallet, block.blockNumber, block.blockHash, calls, broughtMicroUsd, address, digest];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** A cursor as a parameter of a request. */
const cursorSchema = z
  .string()
  .max(MAX_CHARACTERS)
  .transform((text, context): Cursor => {
    const parsed = fields.safeParse(decoded(text));
    if (!parsed.success) {
      context.addIssue({
        code: "custom",
        message: "expected the next_cursor of an earlier answer",
        input: text,
      });
      return z.NEVER;
    }
    const [, wallet, blockNumber, blockHash, calls, broughtMicroUsd, last, digest] = parsed.data;
    const after = { calls, broughtMicroUsd, address: last };
    return { wallet, block: { blockNumber, blockHash }, after, digest };
  });

/** The 422 of a cursor that does not fit the request. */
function cursorRefused(cursor: Cursor, error: string): ValidationFailed {
  return new ValidationFailed([valueFault(["query", "cursor"], encodeCursor(cursor), error)]);
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const DEFAULT_PAGE = 25;

const query = z.object({
  limit: laxInteger(z.int().min(1).max(MAX_PAGE)).default(DEFAULT_PAGE).openapi({
    type: "integer",
    minimum: 1,
    maximum: MAX_PAGE,
    default: DEFAULT_PAGE,
    description: "Counterparties a page",
  }),
  cursor: cursorSchema.optional().openapi({
    type: "string",
    description:
      "`next_cursor` of an earlier answer for the same wallet: the list goes on as of the same block, whatever happened since",
  }),
});

/** GET /counterparties/{address}. */
export const getCounterparties = definePaid<Needs>()({
  method: "get",
  path: "/counterparties/{address}",
  operationId: "list_counterparties",
  tool: "Lists the accounts that a wallet pays, calls and is paid by, with volumes, labels and risk. Use it to check an agent's counterparties before you rely on it.",
  price: { units: 100 },
  tag: "Network",
  summary: "Know your counterparty: the accounts that a wallet dealt with",
  description:
    "Lists the accounts that the wallet called or paid in the window, and those that sent it native coin or a listed token. Accounts with the most own calls come first, then the largest senders.\n\n- Each own call is attributed to its payee, or else to the called contract. For the owner's own contracts, and for executions whose target did not log, it is attributed to the external contract in the logs.\n- Omitted: mints, transfers of unlisted tokens in transactions of others (any contract can claim them), and senders of less than 0.01 USD, which are only counted.\n- A cursor continues the list as of its block. If that list cannot be made again, the cursor is refused and nothing is charged. Labels, grades and flags are current.\n- Each page is charged.",
  request: { params: addressParams, query, body: null },
  answer: { schema: counterpartiesSchema, description: "One page of the list" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check({ params: { address }, query: { cursor } }, { deps, now }) {
    if (cursor !== undefined && cursor.wallet !== address) {
      throw cursorRefused(cursor, `the cursor is for ${toEip55(cursor.wallet)}`);
    }
    return requireReadable(address, deps, now);
  },
  interestIn: ({ address }) => [address],
  async work({ params: { address }, query: { limit, cursor } }, _, { deps }): Promise<CounterpartiesAnswer> {
    const dealings =
      cursor === undefined ? await readNewestDealings(address, deps) : await readFrom(cursor, deps);
    const { rows, digest } = dealings;
    const { days } = deps.policy.window;
    const { entries, next } = pageOf(dealings.found.counterparties, cursor?.after ?? null, limit);
    const [details, links] = await Promise.all([
      deps.describeAccounts(entries.map(({ address }) => address)),
      deps.readOwnerLinks(
        address,
        entries.filter(isUncalled).map(({ address }) => address),
      ),
    ]);
    const tokens = await deps.readTokens(unlistedTokens(entries, rows));
    return {
      address: toEip55(address),
      ...reportScope(dealings, days),
      ...renderTotals(dealings),
      counterparties: entries.map((entry) => {
        const linked = { ...entry, ownerLink: entry.ownerLink ?? links.get(entry.address) ?? null };
        return renderCounterparty(linked, details.get(entry.address), {
          rows,
          tokens,
          known: deps.knownAccounts,
        });
      }),
      next_cursor:
        next === null
          ? null
          : encodeCursor({ wallet: address, block: cursor?.block ?? pinOf(dealings), after: next, digest }),
    };
  },
});

async function readFrom(cursor: Cursor, deps: DealingsNeeds): Promise<FoundDealings> {
  const outcome = await deps.readDealings(cursor.wallet, cursor.block);
  if (outcome.kind === "gone") {
    throw cursorRefused(
      cursor,
      "the index does not hold the cursor's block any more; start without a cursor",
    );
  }
  const dealings = requireRead(cursor.wallet, outcome);
  if (dealings.digest !== cursor.digest) {
    throw cursorRefused(
      cursor,
      "what is known of the wallet's owner has changed the list since; start without a cursor",
    );
  }
  return dealings;
}

function pinOf({ asOf: { blockNumber, blockHash } }: FoundDealings): PinnedBlock {
  return { blockNumber, blockHash };
}

/** The rows have no facts about accounts without own calls. */
function isUncalled({ calls }: Counterparty): boolean {
  return calls === 0;
}

/** Maximum number of tokens in one volume: a router may have moved thousands. */
const MAX_TOKENS = 20;

/** Facts of an account that was not looked up. */
const UNKNOWN: Omit<AccountDetail, "address"> = { agents: [], hasCode: null, score: null, sanctions: [] };

/** A counterparty in the form of the answer; without detail its facts are unknown. */
function renderCounterparty(
  counterparty: Counterparty,
  detail: AccountDetail | undefined,
  { known, ...listed }: TokenNames & { readonly known: KnownAccounts },
): CounterpartiesAnswer["counterparties"][number] {
  const { address, volumeOut, volumeIn } = counterparty;
  const { score, sanctions, agents, hasCode } = detail ?? UNKNOWN;
  const labels = [...chainLabels(address, known, { agents })];
  return {
    ...fieldsOf(counterpartySchema.shape, counterparty),
    address: toEip55(address),
    name: labels[0]?.label ?? null,
    labels,
    is_contract: hasCode,
    independence: counterparty.credit === null ? null : Math.round(1_000 * counterparty.credit) / 1_000,
    direction: directionOf(counterparty),
    volume_usd: bothWays(volumeOut, volumeIn),
    volume_out: renderVolume(volumeOut, listed),
    volume_in: renderVolume(volumeIn, listed),
    first_seen: isoOf(counterparty.firstAt),
    last_seen: isoOf(counterparty.lastAt),
    ahs_score: score === null ? null : score.ahsScore,
    grade: score === null ? null : score.grade,
    scored: score !== null,
    sanctions_flags: [...sanctions],
    mixer: labels.some(({ category }) => category === "mixer"),
    owner_group: counterparty.ownerGroup === null ? null : toEip55(counterparty.ownerGroup),
  };
}

/** The operator's token list, and what contracts of other tokens report. */
type TokenNames = {
  readonly rows: Pick<WalletRows, "tokens">;
  readonly tokens: Awaited<ReturnType<AccountNeeds["readTokens"]>>;
};

/** Tokens in the answer that the operator does not list. */
function unlistedTokens(entries: readonly Counterparty[], rows: Pick<WalletRows, "tokens">): Address[] {
  const listed = new Set(rows.tokens.tokens.map(({ address }) => address));
  const moved = entries.flatMap(({ volumeOut, volumeIn }) =>
    [volumeOut, volumeIn].flatMap(({ tokens }) => tokens.slice(0, MAX_TOKENS).map(({ token }) => token)),
  );
  return moved.filter((token) => !listed.has(token));
}

/** Totals and concentration of the whole list. */
function renderTotals({
  found: { counterparties: list, callsToItself, callsToNobody, dust },
  totals,
  incomingTruncated,
}: Pick<FoundDealings, "found" | "totals" | "incomingTruncated">): Pick<
  CounterpartiesAnswer,
  "totals" | "concentration"
> {
  return {
    totals: {
      ...fieldsOf(totalsSchema.shape, totals),
      ...totals.byDirection,
      dust_senders: dust.senders,
      dust_transfers: dust.transfers,
      calls_to_itself: callsToItself,
      calls_to_nobody: callsToNobody,
      volume_out_usd: toUsd(totals.outMicroUsd),
      volume_in_usd: toUsd(totals.inMicroUsd),
      unpriced_counterparties: totals.unpriced,
      own_accounts: list.filter(({ ownerLink }) => ownerLink !== null).length,
      incoming_complete: !incomingTruncated,
    },
    concentration: {
      hhi_calls: totals.callsHhi,
      hhi_volume_out: totals.outHhi,
      hhi_volume_in: totals.inHhi,
    },
  };
}

function renderVolume(
  volume: Volume,
  { rows, tokens }: TokenNames,
): CounterpartiesAnswer["counterparties"][number]["volume_out"] {
  const listed = new Map(rows.tokens.tokens.map((token) => [token.address, token]));
  const shown = volume.tokens.slice(0, MAX_TOKENS);
  return {
    value_usd: toUsd(volume.microUsd),
    fully_priced: volume.isPriced,
    native_wei: volume.nativeWei.toString(),
    tokens: shown.map(({ token, amount, microUsd }) => ({
      token: toEip55(token),
      symbol: listed.get(token)?.symbol ?? tokens.get(token)?.symbol ?? null,
      decimals: listed.get(token)?.decimals ?? tokens.get(token)?.decimals ?? null,
      verified: listed.has(token),
      amount: amount.toString(),
      value_usd: toUsd(microUsd),
    })),
    tokens_left_out: volume.tokens.length - shown.length,
  };
}

function bothWays(out: Volume, back: Volume): number | null {
  if (out.microUsd === null && back.microUsd === null) return null;
  // Zero one way and an unpriced amount the other way: the sum is unknown, not zero.
  const priced = [out, back].flatMap(({ microUsd, isPriced }) =>
    microUsd === null ? [] : { microUsd, isPriced },
  );
  const sum = priced.reduce((total, { microUsd }) => total + microUsd, 0);
  return sum === 0 && priced.length < 2 ? null : toUsd(sum);
}
