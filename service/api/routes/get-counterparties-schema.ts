import { z } from "@hono/zod-openapi";
import { reportScopeShape } from "../kit/wallet-report.ts";
import { nullableGradeSchema, nullableScoreSchema, sanctionsFlagSchema } from "../schemas/ahs-record.ts";
import { eip55Schema, isoSchema } from "../schemas/values.ts";

export const MAX_PAGE = 100;

const wholeText = z.string().regex(/^\d+$/);
const count = z.int().min(0);
const usd = z.number().min(0).nullable();
const hhi = z.int().min(0).max(10_000).nullable();

/** The label of an account from chain data. */
export const chainLabelSchema = z
  .object({
    label: z.string(),
    category: z.enum([
      "agent",
      "token",
      "system",
      "entry_point",
      "public_funder",
      "mixer",
      "contract",
      "account",
    ]),
    source: z.enum(["deployment", "identity-registry", "index"]),
  })
  .openapi("ChainLabel", {
    description:
      "deployment: named by the operator. identity-registry: an agent's own registration, with an unverified name. index: read from the chain",
  });

/** Why an account counts as one of the wallet's owner. */
const ownerLinkSchema = z
  .enum(["itself", "creator", "first_funder", "mutual_funding"])
  .nullable()
  .openapi({ description: "What links it to the wallet's owner; null where nothing is known to" });

const volumeSchema = z
  .object({
    volume_usd: usd.openapi({
      description:
        "At the prices of the days, of all that has a price; 0 where nothing moved, null where something moved and nothing of it has a price",
    }),
    fully_priced: z.boolean().openapi({ description: "Whether all that moved has a price" }),
    native_wei: wholeText,
    tokens: z
      .array(
        z.object({ token: eip55Schema, symbol: z.string().nullable(), amount: wholeText, amount_usd: usd }),
      )
      .openapi({ description: "Amounts in the tokens' smallest units; the first 20, most worth first" }),
    tokens_left_out: count,
  })
  .openapi("CounterpartyVolume");

const counterpartySchema = z
  .object({
    address: eip55Schema,
    label: chainLabelSchema.nullable().openapi({ description: "The first of `labels`" }),
    labels: z.array(chainLabelSchema),
    direction: z.enum(["out", "in", "both"]),
    interactions: count.openapi({ description: "calls + transfers_in" }),
    calls: count.openapi({ description: "Own calls to it, or payments to it, failed ones included" }),
    failed_calls: count,
    transfers_in: count.openapi({ description: "Transfers from it in transactions of others" }),
    volume_usd: usd.openapi({ description: "Out and in; null where only what has no price moved" }),
    volume_out: volumeSchema,
    volume_in: volumeSchema,
    first_seen: isoSchema,
    last_seen: isoSchema,
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    scored: z
      .boolean()
      .openapi({ description: "Whether it was ever scored, or is sanctioned, which is an F" }),
    sanctions_flags: z.array(sanctionsFlagSchema),
    mixer: z.boolean(),
    owner_link: ownerLinkSchema,
    owner_group: eip55Schema.nullable().openapi({
      description: "Lowest address of the counterparties that share an owner with it; null where none does",
    }),
    credit: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .openapi({ description: "How much dealing with it proves; null where no own call went to it" }),
  })
  .openapi("Counterparty");

/** The answer of GET /counterparties/{address}. */
export const counterpartiesSchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    totals: z.object({
      counterparties: count,
      out: count,
      in: count,
      both: count,
      interactions: count,
      calls: count,
      failed_calls: count,
      transfers_in: count,
      dust_senders: count.openapi({
        description:
          "Accounts that sent less than a cent in all, in transactions of others: they and what they sent are in no other number",
      }),
      dust_transfers: count,
      calls_to_itself: count.openapi({ description: "Own calls that called or paid the wallet itself" }),
      calls_to_nobody: count.openapi({
        description:
          "Own calls that show no counterparty: contract creations, executions that no log explains",
      }),
      volume_out_usd: usd,
      volume_in_usd: usd,
      unpriced_counterparties: count.openapi({
        description: "With whom something was exchanged that has no price: it is in no _usd number",
      }),
      owned: count.openapi({ description: "Of those that own calls went to, the wallet's own owner's" }),
      incoming_complete: z.boolean().openapi({
        description: "False where only the newest 50,000 transfers from others were looked at",
      }),
    }),
    concentration: z.object({ hhi_calls: hhi, hhi_volume_out: hhi, hhi_volume_in: hhi }).openapi({
      description:
        "Herfindahl-Hirschman indices over all counterparties: 10,000 is one alone, 10,000 / n is n equal ones; of own calls, and of the priced volume each way, where others decide what comes in. Null where there is nothing to share",
    }),
    counterparties: z.array(counterpartySchema).openapi({
      description:
        "Most own calls first, then by rising address; after them who was never called, most sent first",
    }),
    next_cursor: z.string().nullable().openapi({ description: "Null on the last page" }),
  })
  .openapi("Counterparties");

export type CounterpartiesAnswer = z.infer<typeof counterpartiesSchema>;

export const COUNTERPARTIES_EXAMPLE: CounterpartiesAnswer = {
  address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  chain_id: 31337,
  as_of_block: 48210,
  as_of_time: "2026-11-20T09:58:00.000Z",
  window: { from: "2026-05-24T09:58:00.000Z", to: "2026-11-20T09:58:00.000Z", days: 180 },
  coverage: { from_block: 1, to_block: 48210, complete: true, sources: ["index"] },
  totals: {
    counterparties: 9,
    out: 7,
    in: 1,
    both: 1,
    interactions: 412,
    calls: 405,
    failed_calls: 4,
    transfers_in: 7,
    dust_senders: 3,
    dust_transfers: 5,
    calls_to_itself: 0,
    calls_to_nobody: 1,
    volume_out_usd: 8120.5,
    volume_in_usd: 20000,
    unpriced_counterparties: 0,
    owned: 0,
    incoming_complete: true,
  },
  concentration: { hhi_calls: 1830, hhi_volume_out: 2410, hhi_volume_in: 8200 },
  counterparties: [
    {
      address: "0x2279B7A0a67DB372996a5FaB50D91eAA73d2eBe6",
      label: { label: "Contract", category: "contract", source: "index" },
      labels: [{ label: "Contract", category: "contract", source: "index" }],
      direction: "both",
      interactions: 120,
      calls: 120,
      failed_calls: 2,
      transfers_in: 0,
      volume_usd: 4820.25,
      volume_out: {
        volume_usd: 2410.5,
        fully_priced: true,
        native_wei: "0",
        tokens: [
          {
            token: "0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0",
            symbol: "USDC",
            amount: "2410500000",
            amount_usd: 2410.5,
          },
        ],
        tokens_left_out: 0,
      },
      volume_in: {
        volume_usd: 2409.75,
        fully_priced: true,
        native_wei: "0",
        tokens: [
          {
            token: "0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9",
            symbol: "WETH",
            amount: "803250000000000000",
            amount_usd: 2409.75,
          },
        ],
        tokens_left_out: 0,
      },
      first_seen: "2026-08-22T10:12:00.000Z",
      last_seen: "2026-11-20T09:41:00.000Z",
      ahs_score: null,
      grade: null,
      scored: false,
      sanctions_flags: [],
      mixer: false,
      owner_link: null,
      owner_group: null,
      credit: 0.998,
    },
  ],
  next_cursor: null,
};
