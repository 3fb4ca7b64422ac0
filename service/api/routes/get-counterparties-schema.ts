import { z } from "@hono/zod-openapi";
import { reportScopeShape } from "../kit/wallet-report.ts";
import { nullableGradeSchema, nullableScoreSchema, sanctionsFlagsSchema } from "../schemas/ahs-record.ts";
import { eip55Schema, flag, isoSchema, share, text, wholeSchema } from "../schemas/values.ts";

export const MAX_PAGE = 100;

const count = z.int().min(0).openapi({ example: 7 });
const usd = z.number().min(0).nullable().openapi({ example: 2410.5 });
const hhi = z.int().min(0).max(10_000).nullable().openapi({ example: 1830 });

/** The label of an account from chain data. */
const chainLabelSchema = z
  .object({
    label: z.string().openapi({ example: "Agent 17: Delta keeper" }),
    category: z.enum(["agent", "token", "system", "entry_point", "public_funder", "mixer"]),
    source: z.enum(["deployment", "identity-registry", "token-contract"]).openapi({
      example: "identity-registry",
    }),
  })
  .openapi("ChainLabel", {
    description:
      "deployment: named by the operator. identity-registry: an agent's own registration, with an unverified name. token-contract: the symbol that an unlisted token contract reports, unverified",
  });

/** Name, labels and kind of an account in answers about networks. */
export const accountNameShape = {
  name: text("Best name known: the first of `labels`; null without any", "Agent 17: Delta keeper").nullable(),
  labels: z.array(chainLabelSchema).openapi({ description: "The most trustworthy first" }),
  is_contract: z.boolean().nullable().openapi({ description: "Null if not known", example: false }),
} as const;

/** Why an account counts as one of the wallet's owner. */
const ownerLinkSchema = z.enum(["itself", "creator", "first_funder", "mutual_funding"]).nullable().openapi({
  description: "What links it to the wallet's owner; null where nothing is known to",
  example: null,
});

const volumeSchema = z
  .object({
    value_usd: usd.openapi({
      description:
        "At the prices of the days, of all that has a price; 0 where nothing moved, null where something moved and nothing of it has a price",
    }),
    fully_priced: flag("Whether all that moved has a price", true),
    native_wei: wholeSchema,
    tokens: z
      .array(
        z.object({
          token: eip55Schema,
          symbol: z.string().nullable().openapi({ example: "USDC" }),
          decimals: z.int().nullable().openapi({ example: 6 }),
          verified: flag(
            "Whether the operator lists the token; if not, symbol and decimals are the contract's own",
            true,
          ),
          amount: wholeSchema,
          value_usd: usd,
        }),
      )
      .openapi({ description: "Amounts in the tokens' smallest units; the first 20, most worth first" }),
    tokens_left_out: count.openapi({ example: 0 }),
  })
  .openapi("CounterpartyVolume");

export const counterpartySchema = z
  .object({
    address: eip55Schema,
    ...accountNameShape,
    direction: z.enum(["out", "in", "both"]),
    interactions: count.openapi({ description: "calls + transfers_in" }),
    calls: count.openapi({ description: "Own calls to it, or payments to it, failed ones included" }),
    failed_calls: count,
    transfers_in: count.openapi({ description: "Transfers from it in transactions of others" }),
    volume_usd: usd.openapi({
      description: "Value of all transfers out and in; null if nothing that moved has a price",
    }),
    volume_out: volumeSchema,
    volume_in: volumeSchema,
    first_seen: isoSchema,
    last_seen: isoSchema,
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    scored: flag("Whether it was ever scored, or is sanctioned, which is an F", true),
    sanctions_flags: sanctionsFlagsSchema,
    mixer: z.boolean(),
    owner_link: ownerLinkSchema,
    owner_group: eip55Schema.nullable().openapi({
      description: "Lowest address of the counterparties that share an owner with it; null where none does",
      example: null,
    }),
    independence: share(
      "How much dealing with it proves about the wallet, 0 to 1: by its independent users or its age; null if no own call went to it",
      0.998,
    ).nullable(),
  })
  .openapi("Counterparty");

export const totalsSchema = z.object({
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
      "Accounts that sent less than a cent in all, in transactions of others. No other field counts them or their transfers",
  }),
  dust_transfers: count,
  calls_to_itself: count.openapi({ description: "Own calls that called or paid the wallet itself" }),
  calls_to_nobody: count.openapi({
    description: "Own calls that show no counterparty: contract creations, executions that no log explains",
  }),
  volume_out_usd: usd,
  volume_in_usd: usd,
  unpriced_counterparties: count.openapi({
    description:
      "Counterparties of at least one transfer without a known price. The _usd fields leave out such transfers",
  }),
  own_accounts: count.openapi({
    description: "Counterparties of own calls that belong to the wallet's owner",
  }),
  incoming_complete: flag("False where only the newest 50,000 transfers from others were read", true),
});

/** The answer of GET /counterparties/{address}. */
export const counterpartiesSchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    totals: totalsSchema,
    concentration: z.object({ hhi_calls: hhi, hhi_volume_out: hhi, hhi_volume_in: hhi }).openapi({
      description:
        "Herfindahl-Hirschman indices over all counterparties: 10,000 is one alone, 10,000 / n is n equal ones; of own calls, and of the priced volume each way, where others decide what comes in. Null where there is nothing to share",
    }),
    counterparties: z.array(counterpartySchema).openapi({
      description:
        "Most own calls first, then by rising address; after them who was never called, most sent first",
    }),
    next_cursor: text("Null on the last page").nullable().openapi({ example: null }),
  })
  .openapi("Counterparties");

export type CounterpartiesAnswer = z.infer<typeof counterpartiesSchema>;
