import { z } from "@hono/zod-openapi";
import { eip55Schema } from "../address-schema.ts";
import { isoSchema, nullableGradeSchema, nullableScoreSchema } from "../scores/ahs-record-schema.ts";
import { reportScopeShape } from "../wallet-report.ts";
import { chainLabelSchema } from "./get-counterparties-schema.ts";

/** As many as can still be drawn and read. */
export const MAX_NODES = 150;
export const MAX_EDGES = 400;

const count = z.int().min(0);

const nodeSchema = z
  .object({
    id: z.string().openapi({ description: "What edges name it by: its address" }),
    address: eip55Schema,
    kind: z.enum(["agent", "account", "contract", "token", "public_funder", "unknown"]).openapi({
      description:
        "agent: the wallet of a registered one. public_funder: an exchange, bridge or faucet, which links nobody. unknown: no source knows whether it has code",
    }),
    label: chainLabelSchema.nullable(),
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    flags: z.array(z.enum(["sanctioned", "mixer"])),
    hops: z.int().min(0).max(2).openapi({ description: "0 is the wallet itself" }),
    cluster: eip55Schema.nullable().openapi({
      description:
        "Lowest address of the accounts that share its owner, by common creators, first funders or mutual funding; null where nothing links it to another",
    }),
  })
  .openapi("NetworkNode");

const edgeSchema = z
  .object({
    from: z.string(),
    to: z.string(),
    kind: z.enum(["funded", "created", "shares_funder", "paid", "called"]).openapi({
      description:
        "funded: was the first to send it value. created: deployed it. shares_funder: has the same creator or first funder, which is no public one. paid: sent it something with a price. called: called it, and sent nothing with a price",
    }),
    calls: count.nullable().openapi({ description: "Null where the link is no call" }),
    volume_usd: z.number().min(0).nullable().openapi({
      description: "Sent at the prices of the days; null where nothing with a price is known to be",
    }),
    first_seen: isoSchema.nullable(),
    last_seen: isoSchema.nullable(),
  })
  .openapi("NetworkEdge");

/** The answer of GET /network-map/{address}. */
export const networkMapSchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    cluster: eip55Schema.nullable().openapi({ description: "The wallet's own" }),
    cluster_size: count.openapi({ description: "Nodes of the wallet's cluster, itself included" }),
    nodes: z
      .array(nodeSchema)
      .max(MAX_NODES)
      .openapi({ description: "The wallet first, then as they were chosen" }),
    edges: z.array(edgeSchema).max(MAX_EDGES),
    truncated: z.boolean(),
    left_out: z.object({
      nodes: count,
      edges: count.openapi({ description: "Among the nodes shown" }),
      at_least: z.boolean().openapi({
        description:
          "True where accounts have more links than are looked at: then more is left out than counted",
      }),
    }),
  })
  .openapi("NetworkMap");

export type NetworkMapAnswer = z.infer<typeof networkMapSchema>;

const WALLET = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc";
const EXCHANGE = "0xDD91af5B20fC7469C7C3EAEaAc417a763B326DD0";
const SHOP = "0xFc81215d9F0Cc0C7E7D6Aec64456fC48d64F2431";

/** What the document shows. */
export const NETWORK_MAP_EXAMPLE: NetworkMapAnswer = {
  address: WALLET,
  chain_id: 31337,
  as_of_block: 48210,
  as_of_time: "2026-11-20T09:58:00.000Z",
  window: { from: "2026-05-24T09:58:00.000Z", to: "2026-11-20T09:58:00.000Z", days: 180 },
  coverage: { from_block: 1, to_block: 48210, complete: true, sources: ["index"] },
  cluster: null,
  cluster_size: 1,
  nodes: [
    {
      id: WALLET,
      address: WALLET,
      kind: "agent",
      label: { label: "Agent 12: payment-agent 0", category: "agent", source: "identity-registry" },
      ahs_score: 84,
      grade: "B",
      flags: [],
      hops: 0,
      cluster: null,
    },
    {
      id: EXCHANGE,
      address: EXCHANGE,
      kind: "public_funder",
      label: { label: "Public funder", category: "public_funder", source: "deployment" },
      ahs_score: null,
      grade: null,
      flags: [],
      hops: 1,
      cluster: null,
    },
    {
      id: SHOP,
      address: SHOP,
      kind: "account",
      label: { label: "Account", category: "account", source: "index" },
      ahs_score: null,
      grade: null,
      flags: [],
      hops: 1,
      cluster: null,
    },
  ],
  edges: [
    {
      from: EXCHANGE,
      to: WALLET,
      kind: "funded",
      calls: null,
      volume_usd: null,
      first_seen: null,
      last_seen: null,
    },
    {
      from: WALLET,
      to: SHOP,
      kind: "paid",
      calls: 36,
      volume_usd: 490.038991,
      first_seen: "2026-08-22T10:12:00.000Z",
      last_seen: "2026-11-20T09:41:00.000Z",
    },
  ],
  truncated: false,
  left_out: { nodes: 0, edges: 0, at_least: false },
};
