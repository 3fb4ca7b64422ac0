import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { OwnerLink } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { KnownAccounts } from "../../reports/labels/chain-labels.ts";
import { type Counterparty, pageOf } from "../../reports/network/counterparties.ts";
import type { AccountDetail } from "../../reports/network/wallet-network-accounts.ts";
import type { PinnedBlock } from "../../reports/network/wallet-network-dealings.ts";
import { addressParams, toEip55 } from "../address-schema.ts";
import { definePaid } from "../endpoint.ts";
import { laxInteger } from "../validation/lax-values.ts";
import { noteInterest, type WalletPorts } from "../wallet-ports.ts";
import { type ReportRoom, reportScope, requireReadable } from "../wallet-report.ts";
import { type Cursor, cursorRefused, cursorSchema, encodeCursor } from "./get-counterparties-cursor.ts";
import { type DealingsPort, readNewestDealings, requireRead } from "./get-counterparties-dealings.ts";
import { renderCounterparty, renderTotals } from "./get-counterparties-render.ts";
import {
  COUNTERPARTIES_EXAMPLE,
  type CounterpartiesAnswer,
  counterpartiesSchema,
  MAX_PAGE,
} from "./get-counterparties-schema.ts";
import type { FoundDealings } from "./kept-dealings.ts";

export type GetCounterpartiesPorts = WalletPorts &
  ReportRoom &
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
  limit: laxInteger(z.int().min(1).max(MAX_PAGE))
    .default(DEFAULT_PAGE)
    .openapi({
      param: { name: "limit", in: "query", required: false },
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
    "Every account that the wallet called or paid in the window, and every one that sent it native coin or a listed token; most own calls first, then who sent most. An own call counts, with all that it moved, for who is paid, else who is called; where that is the owner's own account, or an execution whose target did not log, for the outside contract of the lowest address that its logs show. Transfers of unlisted tokens that others sent are left out: any contract can claim them, as are mints; senders of less than a cent in all are counted, and listed nowhere. Pages that follow a cursor are as of its block, and a cursor is refused at no cost once its list cannot be made again; what is said of each account (labels, grade, flags) is as of now. Each page is charged.",
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
  check: ({ params }, { deps, now }: { deps: GetCounterpartiesPorts; now: Date }) =>
    requireReadable(params.address, deps, now),
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
    noteInterest(address, deps);
    return {
      address: toEip55(address),
      ...reportScope(dealings, days),
      ...renderTotals(dealings),
      counterparties: entries.map((entry) => {
        const linked = { ...entry, ownerLink: entry.ownerLink ?? links.get(entry.address) ?? null };
        return renderCounterparty(linked, details.get(entry.address), { rows, known: deps.knownAccounts });
      }),
      next_cursor:
        next === null
          ? null
          : encodeCursor({ wallet: address, block: cursor?.block ?? pinOf(dealings), after: next, digest }),
    };
  },
});

async function readFrom(cursor: Cursor, deps: GetCounterpartiesPorts): Promise<FoundDealings> {
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

/** Of an account that no own call went to, the rows hold no facts. */
function isUncalled({ calls }: Counterparty): boolean {
  return calls === 0;
}
