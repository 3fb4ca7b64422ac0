import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { defaultAction } from "../../model/score/route.ts";
import type { RegisteredAgent } from "../../registries/documents/registered-agent.ts";
import type { OwnerCluster, OwnerWallet } from "../../reports/network/owner-cluster.ts";
import type { PromisedAmounts } from "../../scores/backing/available-backing.ts";
import { answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import type { WalletNeeds } from "../kit/wallet-report.ts";
import { requireFollowed } from "../kit/wallet-report.ts";
import type { ContractNeeds } from "../schemas/agents.ts";
import { agentShape, renderAgent } from "../schemas/agents.ts";
import {
  chainIdSchema,
  currentScoreShape,
  nullableGradeSchema,
  renderCurrentScore,
  routingActionSchema,
} from "../schemas/ahs-record.ts";
import type { AccountNeeds } from "../schemas/report-parts.ts";
import {
  addressParams,
  count,
  eip55Schema,
  flag,
  isoSchema,
  num,
  text,
  toEip55,
  toUsd,
} from "../schemas/values.ts";

const NOTE =
  "Links by creator, first funder or mutual funding are evidence of one owner, not proof: a service may create or fund wallets of different owners.";

const evidenceSchema = z.object({
  kind: z.enum(["creator", "first_funder", "mutual_funding"]),
  from: eip55Schema.openapi({
    description: "The account that created or first funded `to`; of mutual funding, either of the two",
  }),
  to: eip55Schema,
});

const walletSchema = z
  .object({
    address: eip55Schema,
    agents: z
      .array(z.object(agentShape))
      .openapi({ description: "The first three agents that it acts for, of all registries" }),
    ...currentScoreShape,
    trust_routing: routingActionSchema.openapi({ description: "Routing action by the default table" }),
    sanctioned: flag("Whether it is on a sanctions list at the newest indexed block"),
    safe_amount_usd: num(
      "Its safe amount, before what is outstanding; null while it is unknown",
      42.5,
    ).nullable(),
    last_active_at: isoSchema
      .nullable()
      .openapi({ description: "Last own call in the index; null without one" }),
    owner_link: z.enum(["itself", "creator", "first_funder", "mutual_funding"]).openapi({
      description: "What links it to the owner cluster; itself: the wallet that was asked about",
    }),
    evidence: z.array(evidenceSchema).openapi({
      description: "The links from it to the wallet that was asked about, step by step",
      example: [],
    }),
  })
  .openapi("OwnerWallet");

/** The answer of GET /owner-cluster/{address}. */
const ownerClusterSchema = z
  .object({
    address: eip55Schema,
    chain_id: chainIdSchema,
    note: text("What the links prove", NOTE),
    summary: z.object({
      wallets: count("Wallets listed", 1),
      grades: z
        .object({ A: z.int(), B: z.int(), C: z.int(), D: z.int(), E: z.int(), F: z.int(), none: z.int() })
        .openapi({
          description: "Wallets by grade; none: not scored, or without enough history",
          example: { A: 0, B: 1, C: 0, D: 0, E: 0, F: 0, none: 0 },
        }),
      worst_grade: nullableGradeSchema.openapi({ description: "Null if no wallet has a grade" }),
      sanctioned: count("Wallets on a sanctions list", 0),
      safe_amount_usd: num(
        "Sum of the known safe amounts; null if none is known. One owner may fail with all of them at once",
        42.5,
      ).nullable(),
    }),
    wallets: z.array(walletSchema).openapi({
      description: "Followed wallets of the owner cluster: the wallet itself first, then the nearest",
    }),
    truncated: flag("Whether more wallets are linked than are listed"),
    left_out: z.object({
      wallets: count("Followed wallets that were found and not examined", 0),
      at_least: flag("True where accounts have more links than are read: then more may be left out"),
    }),
  })
  .openapi("OwnerCluster");

export type OwnerClusterAnswer = z.infer<typeof ownerClusterSchema>;

/** GET /owner-cluster/{address}. */
export const getOwnerCluster = defineFree<ClusterNeeds & WalletNeeds>()({
  method: "get",
  path: "/owner-cluster/{address}",
  operationId: "list_owner_wallets",
  tool: "Lists the followed wallets that share an owner with a wallet, by common creators and funders, with scores, routing actions and the evidence of each link. Use it to judge an owner by all its agents.",
  tag: "Network",
  summary: "Wallets of the owner of a wallet",
  description: `Lists up to 100 followed wallets of the owner cluster of a wallet, with their current scores, safe amounts and last activity, and a summary of all of them. The clusters are those of the model: accounts that a common creator, a common first funder or mutual funding links to the wallet; public funders link none, and a new account that the wallet only paid is no part of it. ${NOTE} It reads stored data and scores nothing.`,
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: ownerClusterSchema, description: "The wallets, with the links that show the owner" },
  problems: [
    "not-indexed",
    "index-unavailable",
    "index-behind",
    "scoring-unavailable",
    "database-unavailable",
  ],
  async respond(context, { params: { address } }, { deps, now }) {
    await requireFollowed(address, deps, now);
    const body = await describeOwnerCluster(address, deps, now);
    return answerJson(context, body, { headers: { "cache-control": "public, max-age=30" } });
  },
});

type ClusterNeeds = ContractNeeds &
  Pick<AccountNeeds, "describeAccounts"> &
  Pick<WalletNeeds, "scores"> & {
    readonly chainId: number;
    readonly backing: Pick<PromisedAmounts, "read">;
    /** The followed wallets of a wallet's owner cluster. Throws a 503 problem if too many of them are being read. */
    readonly readOwnerCluster: (wallet: Address) => Promise<OwnerCluster>;
  };

/** The owner cluster of a followed wallet. */
export async function describeOwnerCluster(
  address: Address,
  deps: ClusterNeeds,
  now: Date,
): Promise<OwnerClusterAnswer> {
  const { wallets: members, leftOut, cut } = await deps.readOwnerCluster(address);
  const [details, states] = await Promise.all([
    deps.describeAccounts(members.map((member) => member.address)),
    Promise.all(members.map((member) => readState(member, deps))),
  ]);
  const wallets = states.map((state) =>
    renderWallet(state, {
      agents: details.get(state.member.address)?.agents ?? [],
      contracts: deps.discovery.contracts,
      now,
    }),
  );
  const safe = states.flatMap(({ backing }) => backing?.safeMicroUsd ?? []);
  return {
    address: toEip55(address),
    chain_id: deps.chainId,
    note: NOTE,
    summary: {
      ...summarize(wallets),
      safe_amount_usd: safe.length === 0 ? null : toUsd(safe.reduce((sum, one) => sum + one, 0n)),
    },
    wallets,
    truncated: leftOut > 0 || cut,
    left_out: { wallets: leftOut, at_least: cut },
  };
}

/** The current state of a wallet. One statement of each kind reads all wallets that wait for it. */
async function readState(member: OwnerWallet, { scores, backing }: ClusterNeeds) {
  const [snapshot, known] = await Promise.all([
    scores.snapshot(member.address),
    backing.read(member.address),
  ]);
  return { member, snapshot, backing: known };
}

type Wallet = OwnerClusterAnswer["wallets"][number];

function renderWallet(
  { member, snapshot, backing }: Awaited<ReturnType<typeof readState>>,
  {
    agents,
    contracts,
    now,
  }: {
    readonly agents: readonly RegisteredAgent[];
    readonly contracts: ContractNeeds["discovery"]["contracts"];
    readonly now: Date;
  },
): Wallet {
  const sanctioned = snapshot.sanctions.length > 0;
  return {
    address: toEip55(member.address),
    agents: agents.map((agent) => renderAgent(agent, contracts)),
    ...renderCurrentScore(snapshot.score, { sanctioned, now }),
    trust_routing: defaultAction({ sanctioned, score: snapshot.score }),
    sanctioned,
    safe_amount_usd: backing === null ? null : toUsd(backing.safeMicroUsd),
    last_active_at: member.lastActiveAt === null ? null : member.lastActiveAt.toISOString(),
    owner_link: member.link,
    evidence: member.evidence.map(({ kind, from, to }) => ({ kind, from: toEip55(from), to: toEip55(to) })),
  };
}

function summarize(wallets: readonly Wallet[]): Omit<OwnerClusterAnswer["summary"], "safe_amount_usd"> {
  const grades = { A: 0, B: 0, C: 0, D: 0, E: 0, F: 0, none: 0 };
  for (const { grade } of wallets) grades[grade ?? "none"] += 1;
  const graded = wallets.flatMap(({ grade }) => grade ?? []).sort();
  return {
    wallets: wallets.length,
    grades,
    worst_grade: graded.at(-1) ?? null,
    sanctioned: wallets.filter(({ sanctioned }) => sanctioned).length,
  };
}
