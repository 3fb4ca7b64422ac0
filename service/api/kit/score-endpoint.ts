import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { ProblemCode } from "../../access/problems.ts";
import type { PromisedAmounts } from "../../scores/backing/available-backing.ts";
import type { ScoreReader, StoredScore } from "../../scores/stored-score.ts";
import {
  type AhsRecord,
  type Attestation,
  ahsRecordSchema,
  renderHistoryEntry,
} from "../schemas/ahs-record.ts";
import { renderBacking, renderSellerProfile } from "../schemas/backing.ts";
import { renderExplanation } from "../schemas/explanation.ts";
import {
  answerInfrastructure,
  type InfrastructureNeeds,
  type InfrastructurePlan,
  planInfrastructure,
  releaseInfrastructure,
} from "../schemas/infrastructure.ts";
import { splitList } from "../schemas/values.ts";
import { defineSale, type Endpoint } from "./endpoint.ts";
import type { CheckContext, PaidWorkContext, Sale } from "./endpoint-spec.ts";
import {
  type EnrolNeeds,
  type RecordNeeds,
  recordOf,
  requireSender,
  type ScoringNeeds,
  type SenderNeeds,
  scoredRow,
  scorerOf,
} from "./score-record.ts";
import { refuseUrl } from "./validation-failed.ts";
import { type ScoredNeeds, type ScoredSnapshot, scoredSnapshot } from "./wallet-report.ts";

/** Services of endpoints that sell a score. */
type Needs = ScoredNeeds &
  ScoringNeeds &
  SenderNeeds &
  RecordNeeds &
  InfrastructureNeeds &
  EnrolNeeds & {
    readonly scores: Pick<ScoreReader, "history">;
    readonly backing: Pick<PromisedAmounts, "read">;
    /** Signs a stored score for the oracle. */
    readonly attest: (row: StoredScore) => Promise<Attestation>;
  };

const PARTS = ["features", "history", "attestation", "infrastructure"] as const;
const HISTORY_LIMIT = 100;
const MAX_URL_CHARACTERS = 2_048;

const query = z.object({
  include: z.preprocess(splitList, z.array(z.enum(PARTS)).default([])).openapi({
    param: { style: "form", explode: false },
    type: "array",
    items: { type: "string", enum: [...PARTS] },
    description: "Parts to add",
  }),
  agent_url: z.string().min(1).max(MAX_URL_CHARACTERS).optional().openapi({
    description:
      "A URL of the agent, shown with the infrastructure. It counts where it equals or lies under an endpoint that the wallet's agents declare; any other is visited once and scores nothing. A URL that leads anywhere but to a public https host is refused.",
  }),
});

/** The wallet to score, and the members that name it in the answer. */
type Subject = { readonly address: Address; readonly named: Pick<AhsRecord, "agent"> };

/** An endpoint that sells the score of the wallet that `find` leads to. */
export function defineScore<Finding>() {
  return <Params>({
    params,
    problems,
    find,
    ...own
  }: {
    readonly path: string;
    readonly operationId: string;
    readonly tool: string;
    readonly summary: string;
    readonly description: string;
    readonly params: z.ZodType<Params>;
    /** Problems of `find`. */
    readonly problems: readonly ProblemCode[];
    /** Throws its refusals; it reads rows by primary key only, see `check` of priced endpoints. */
    find(params: Params, context: CheckContext<Finding>): Promise<Subject>;
  }): Endpoint<Needs & Finding> =>
    defineSale<Needs & Finding>()({
      ...own,
      method: "get",
      price: { units: 1000 },
      tag: "Scores",
      request: { params, query, body: null },
      answer: { schema: ahsRecordSchema, description: "The record" },
      problems: [
        ...problems,
        "not-indexed",
        "index-unavailable",
        "index-behind",
        "scoring-unavailable",
        "names-unavailable",
        "history-unavailable",
        "signer-unavailable",
      ],
      async check({ params }, context) {
        const { deps, now } = context;
        const subject = await find(params, context);
        const snapshot = await scoredSnapshot(subject.address, deps, now);
        const score = scorerOf(subject.address, snapshot, deps);
        // Followed wallets too: their history may start before the index.
        return { ...subject, snapshot, score, mayFetch: score === deps.scoreOnDemand };
      },
      async prepare({ query: { include, agent_url: agentUrl } }, checked, { deps }) {
        if (checked.mayFetch) await requireSender(checked.address, checked.snapshot, deps);
        if (agentUrl !== undefined)
          await refuseUrl({ loc: ["query", "agent_url"], given: agentUrl }, deps.infrastructure.refusal);
        const wantsD3 = include.includes("infrastructure") || agentUrl !== undefined;
        return { ...checked, agents: wantsD3 ? await deps.infrastructure.agents(checked.address) : null };
      },
      interestIn: ({ address }) => [address],
      sell: ({ query }, scored, sale) => sellScore(query, scored, sale),
    });
}

type Scored = Subject & {
  readonly snapshot: ScoredSnapshot;
  readonly score: Parameters<typeof scoredRow>[1];
  readonly mayFetch: boolean;
  /** Agents whose infrastructure the answer shows; null without that part. */
  readonly agents: InfrastructurePlan["agents"] | null;
};

/** Reserves the visit that the answer needs, before the charge, and frees it once the work that may use it is over. */
async function sellScore(
  { include, agent_url: agentUrl }: z.infer<typeof query>,
  scored: Scored,
  sale: Sale<Needs, AhsRecord>,
): Promise<Response> {
  const { agents } = scored;
  const plan = agents === null ? null : planInfrastructure({ agents, agentUrl }, sale.deps);
  let working: Promise<unknown> = Promise.resolve();
  try {
    const { debitId, deliver } = await sale.take({ settlement: scored.mayFetch ? "before" : "after" });
    return await deliver(() => {
      const record = makeRecord(scored, { include, plan, debitId }, sale);
      working = record;
      return record;
    });
  } finally {
    const release = () => (plan === null ? undefined : releaseInfrastructure(plan));
    working.then(release, release);
  }
}

async function makeRecord(
  { address, named, score, snapshot: { threats, followed }, mayFetch }: Omit<Scored, "agents">,
  {
    include,
    plan,
    debitId,
  }: {
    readonly include: z.infer<typeof query>["include"];
    readonly plan: InfrastructurePlan | null;
    readonly debitId: string | null;
  },
  { deps, now, caller }: PaidWorkContext<Needs>,
): Promise<AhsRecord> {
  const row = await scoredRow(address, score, caller);
  const [record, backing, history, attestation, d3] = await Promise.all([
    recordOf({ row, threats }, deps, now),
    deps.backing.read(address),
    include.includes("history") ? historyPart(address, deps) : {},
    include.includes("attestation") ? attestationPart(row, deps) : {},
    plan === null ? null : answerInfrastructure({ row, plan, now }, deps),
  ]);
  if (mayFetch && !followed) await deps.enrol([address], { caller, debitId });
  return {
    ...record,
    ...named,
    ...d3?.scores,
    backing: renderBacking(backing),
    seller_profile: renderSellerProfile(backing),
    ...(include.includes("features") ? renderExplanation(d3?.features ?? row.features) : {}),
    ...history,
    ...attestation,
    ...(d3 === null ? {} : { infrastructure: d3.part }),
  };
}

async function historyPart(
  address: Address,
  deps: Pick<Needs, "scores">,
): Promise<Pick<AhsRecord, "history">> {
  const rows = await deps.scores.history(address, HISTORY_LIMIT);
  return { history: rows.map(renderHistoryEntry) };
}

async function attestationPart(
  row: StoredScore,
  deps: Pick<Needs, "attest">,
): Promise<Pick<AhsRecord, "attestation">> {
  return { attestation: await deps.attest(row) };
}
