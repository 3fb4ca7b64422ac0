import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { type Counterparty, findDealings } from "../../diagnose/counterparties.ts";
import { pageOf } from "../../diagnose/counterparties-page.ts";
import { SECONDS_PER_DAY } from "../../features/time.ts";
import type { OwnerLink } from "../../features/types.ts";
import type { KnownAccounts } from "../../labels/chain-labels.ts";
import type { Policy } from "../../score/policy-shape.ts";
import type { AccountDetail } from "../../store/wallet-network-accounts.ts";
import type { PinnedBlock, WalletDealings } from "../../store/wallet-network-dealings.ts";
import { addressParams, toEip55 } from "../address-schema.ts";
import { definePaid } from "../endpoint.ts";
import { noteInterest, type WalletPorts } from "../wallet-ports.ts";
import { reportScope, requireFollowed } from "../wallet-report.ts";
import { type Cursor, cursorRefused, cursorSchema, encodeCursor } from "./get-counterparties-cursor.ts";
import { type DealingsPort, readNewestDealings, requireRead } from "./get-counterparties-dealings.ts";
import { renderCounterparty, renderTotals } from "./get-counterparties-render.ts";
import {
  COUNTERPARTIES_EXAMPLE,
  type CounterpartiesAnswer,
  counterpartiesSchema,
  MAX_PAGE,
} from "./get-counterparties-schema.ts";

export type GetCounterpartiesPorts = WalletPorts &
  DealingsPort & {
    readonly policy: Policy;
    readonly knownAccounts: KnownAccounts;
    /** What is known now of accounts, each once. */
    readonly describeAccounts: (
      addresses: readonly Address[],
    ) => Promise<ReadonlyMap<Address, AccountDetail>>;
    /** How accounts are linked to the wallet's owner; those that nothing links are left out. */
    readonly readOwnerLinks: (
      wallet: Address,
      accounts: readonly Address[],
    ) => Promise<ReadonlyMap<Address, OwnerLink>>;
  };

const DEFAULT_PAGE = 25;

const query = z.object({
  limit: z
    .string()
    .regex(/^\d{1,3}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(MAX_PAGE))
    .default(DEFAULT_PAGE)
    .openapi({
      param: { name: "limit", in: "query" },
      type: "integer",
      minimum: 1,
      maximum: MAX_PAGE,
      default: DEFAULT_PAGE,
      description: "Counterparties a page",
    }),
  cursor: cursorSchema.optional().openapi({
    param: { name: "cursor", in: "query" },
    type: "string",
    description:
      "`next_cursor` of an earlier answer for the same wallet: the list goes on as of the same block, whatever happened since",
  }),
});

/** GET /counterparties/{address}. */
export const getCounterparties = definePaid({
  method: "get",
  path: "/counterparties/{address}",
  price: 100,
  tag: "Network",
  summary: "Know your counterparty: whom a wallet dealt with",
  description:
    "Every account that the wallet called or paid in the window, and every one that sent it native coin or a listed token; most interactions first, then by rising address. An own call counts, with all that it moved, for whom the score counts it: who is paid, else who is called, else whom its logs show. Transfers of unlisted tokens that others sent are left out: any contract can claim them, as are mints. Pages that follow a cursor are as of its block; what is said of each account (labels, grade, flags) is as of now. Each page is charged.",
  request: { params: addressParams, query, body: null },
  answer: {
    schema: counterpartiesSchema,
    example: COUNTERPARTIES_EXAMPLE,
    description: "One page of the list",
  },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  admit({ params: { address }, query: { cursor } }) {
    if (cursor !== undefined && cursor.wallet !== address) {
      throw cursorRefused(cursor, `the cursor is for ${toEip55(cursor.wallet)}`);
    }
  },
  prepare: ({ params }, { deps, now }: { deps: GetCounterpartiesPorts; now: Date }) =>
    requireFollowed(params.address, deps, now),
  async work({ params: { address }, query: { limit, cursor } }, _, { deps }): Promise<CounterpartiesAnswer> {
    const dealings =
      cursor === undefined ? await readNewestDealings(address, deps) : await readFrom(cursor, deps);
    const { rows, incoming, asOf } = dealings;
    const { days } = deps.policy.window;
    const since = asOf.timestamp - days * SECONDS_PER_DAY;
    const found = findDealings({ rows, incoming, since, policy: deps.policy });
    const { entries, next } = pageOf(found.counterparties, cursor?.after ?? null, limit);
    const [details, links] = await Promise.all([
      deps.describeAccounts(entries.map(({ address }) => address)),
      deps.readOwnerLinks(
        address,
        entries.filter(isUncalled).map(({ address }) => address),
      ),
    ]);
    noteInterest(address, deps);
    return {
      address: toEip55(address),
      ...reportScope(dealings, days),
      ...renderTotals(found, dealings),
      counterparties: entries.map((entry) => {
        const linked = { ...entry, ownerLink: entry.ownerLink ?? links.get(entry.address) ?? null };
        return renderCounterparty(linked, details.get(entry.address), { rows, known: deps.knownAccounts });
      }),
      next_cursor:
        next === null
          ? null
          : encodeCursor({ wallet: address, block: cursor?.block ?? pinOf(dealings), after: next }),
    };
  },
});

async function readFrom(cursor: Cursor, deps: GetCounterpartiesPorts): Promise<WalletDealings> {
  const outcome = await deps.readDealings(cursor.wallet, cursor.block);
  if (outcome.kind === "gone") {
    throw cursorRefused(
      cursor,
      "the index does not hold the cursor's block any more; start without a cursor",
    );
  }
  return requireRead(cursor.wallet, outcome);
}

function pinOf({ asOf: { blockNumber, blockHash } }: WalletDealings): PinnedBlock {
  return { blockNumber, blockHash };
}

/** Of an account that no own call went to, the rows hold no facts. */
function isUncalled({ calls }: Counterparty): boolean {
  return calls === 0;
}
