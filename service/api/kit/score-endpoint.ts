import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { ProblemCode } from "../../access/problems.ts";
import type { StoredScore } from "../../scores/scores.ts";
import { type AhsRecord, ahsRecordSchema, renderHistoryEntry } from "../schemas/ahs-record.ts";
import { renderBacking, renderSellerProfile } from "../schemas/backing.ts";
import { renderExplanation } from "../schemas/explanation.ts";
import {
  answerInfrastructure,
  planInfrastructure,
  releaseInfrastructure,
} from "../schemas/infrastructure.ts";
import { splitList } from "../schemas/values.ts";
import type { Services } from "../services.ts";
import { definePaid, type Endpoint } from "./endpoint.ts";
import type { CheckContext } from "./endpoint-spec.ts";
import { recordOf, requireSender, scoredRow, scorerOf } from "./score-record.ts";
import { refuseUrl } from "./validation-failed.ts";
import { scoredStanding } from "./wallet-report.ts";

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
export function defineScore<Params>({
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
  find(params: Params, context: CheckContext): Promise<Subject>;
}): Endpoint {
  return definePaid({
    ...own,
    method: "get",
    price: 1000,
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
      const standing = await scoredStanding(subject.address, deps, now);
      const score = scorerOf(subject.address, standing, deps);
      // Followed wallets too: their history may start before the index.
      return { ...subject, standing, score, mayFetch: score === deps.scoreOnDemand };
    },
    async prepare({ query }, checked, { deps }) {
      if (checked.mayFetch) await requireSender(checked.address, checked.standing, deps);
      if (query.agent_url !== undefined)
        await refuseUrl({ loc: ["query", "agent_url"], given: query.agent_url }, deps.infrastructure.refusal);
      const wantsD3 = query.include.includes("infrastructure") || query.agent_url !== undefined;
      if (!wantsD3) return { ...checked, plan: null };
      // Last, because it reserves a visit; a refusal here costs nothing.
      return {
        ...checked,
        plan: await planInfrastructure({ address: checked.address, agentUrl: query.agent_url }, deps),
      };
    },
    settlement: (_input, { mayFetch }) => (mayFetch ? "before" : "after"),
    release({ plan }) {
      if (plan !== null) releaseInfrastructure(plan);
    },
    interestIn: ({ address }) => [address],
    async work(
      { query: { include } },
      { address, named, score, standing: { threats, followed }, mayFetch, plan },
      { deps, now, caller, debitId },
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
    },
  });
}

async function historyPart(address: Address, deps: Services): Promise<Pick<AhsRecord, "history">> {
  const rows = await deps.scores.history(address, HISTORY_LIMIT);
  return { history: rows.map(renderHistoryEntry) };
}

async function attestationPart(row: StoredScore, deps: Services): Promise<Pick<AhsRecord, "attestation">> {
  return { attestation: await deps.attest(row) };
}
