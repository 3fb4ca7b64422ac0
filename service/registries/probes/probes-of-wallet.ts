import type { Address } from "viem";
import { type Deployment, registriesByAddress } from "../../chain/deployments.ts";
import { type Database, rowsInTime } from "../../db/database.ts";
import type { agentDocument, DocumentState, EndpointKind, probe } from "../../db/tables/infrastructure.ts";

/** Declarations of one agent of a wallet; the state is null while its document has not been asked for. */
export type WalletAgent = Pick<typeof agentDocument.$inferSelect, "detail" | "fetchedAt" | "services"> & {
  readonly agentId: string;
  /** Lower-case; null for the registry that the index follows. */
  readonly registry: Address | null;
  readonly state: DocumentState | null;
};

export type StoredProbe = Pick<
  typeof probe.$inferSelect,
  "endpoint" | "at" | "outcome" | "status" | "latencyMs" | "valid" | "detail" | "quarters"
>;

/**
 * The probes of one endpoint on one UTC day, each for every quarter hour that it counts for; one that failed counts as having
 * taken the longest time.
 */
export type ProbeDay = {
  readonly endpoint: string;
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly probes: number;
  readonly alive: number;
  readonly latencyP50Ms: number;
  readonly latencyP95Ms: number;
};

/** An endpoint as it is declared: visits of it as another kind say nothing of it. */
type DeclaredEndpoint = { readonly endpoint: string; readonly kind: EndpointKind };

/** More than one wallet has, but for hosts of many agents, whose first ones speak for them. */
const MAX_AGENTS = 50;

/** Reads of documents and probes, and of the agents in the views of one chain's index. */
export function createInfrastructureReader(db: Database, chain: Pick<Deployment, "chainId" | "registries">) {
  const { chainId } = chain;
  const registries = [...registriesByAddress(chain).keys()];
  return {
    /** Agents that act for the wallet (lower-case), by rising id, those of the followed registry first. */
    async agents(wallet: Address): Promise<readonly WalletAgent[]> {
      const text = agentsStatement(`"chain_${chainId}"`);
      return rowsInTime<WalletAgent>(db, {
        name: "wallet_agents",
        text,
        values: [wallet, chainId, MAX_AGENTS, registries],
      });
    },
    /** From a moment on, oldest first. */
    async probes(endpoints: readonly DeclaredEndpoint[], since: Date): Promise<readonly StoredProbe[]> {
      return rowsInTime<StoredProbe>(db, {
        name: "endpoint_probes",
        text: `select endpoint, at, outcome, status, latency_ms as "latencyMs", valid, detail, quarters
               from ahs.probe where ${DECLARED} and at >= $4 order by at, id`,
        values: [chainId, ...columnsOf(endpoints), since],
      });
    },
    /**
     * How endpoints are visited at present; those that are not have no entry. regular: each quarter of an hour. in_turns: less
     * often, since the domain declares too many.
     */
    async probing(
      endpoints: readonly DeclaredEndpoint[],
    ): Promise<ReadonlyMap<string, "regular" | "in_turns">> {
      const rows = await rowsInTime<{ endpoint: string; isRegular: boolean }>(db, {
        name: "endpoint_places",
        text: `select endpoint, bool_and(place = 'kept') as "isRegular" from ahs.probe_schedule
               where chain_id = $1 and (endpoint, kind) in (select * from unnest($2::text[], $3::text[]))
               group by endpoint`,
        values: [chainId, ...columnsOf(endpoints)],
      });
      return new Map(rows.map(({ endpoint, isRegular }) => [endpoint, isRegular ? "regular" : "in_turns"]));
    },
    /** Of the days from a moment on, newest first. */
    async days(
      endpoints: readonly DeclaredEndpoint[],
      since: Date,
      longestMs: number,
    ): Promise<readonly ProbeDay[]> {
      const values = [chainId, ...columnsOf(endpoints), since, longestMs];
      return rowsInTime<ProbeDay>(db, { name: "endpoint_days", text: DAYS, values });
    },
  };
}

function columnsOf(endpoints: readonly DeclaredEndpoint[]): readonly [string[], string[]] {
  return [endpoints.map(({ endpoint }) => endpoint), endpoints.map(({ kind }) => kind)];
}

const DECLARED = `chain_id = $1 and endpoint = any($2::text[])
  and (kind is null or (endpoint, kind) in (select * from unnest($2::text[], $3::text[])))`;

/**
 * An agent counts for its wallet, and for its owner where the owner has been its wallet: a stranger who hands an agent over
 * cannot make the receiver answer for its endpoints, since being the wallet takes the wallet's own act.
 */
function agentsStatement(views: string): string {
  return `
    select agent_id::text as "agentId", registry, state, detail, fetched_at as "fetchedAt", services from (
      (select a.agent_id, null::text as registry, d.state, d.detail, d.fetched_at, coalesce(d.services, '[]') as services
       from (select distinct agent_id from ${views}.agent_wallet where wallet = $1) as known
       join ${views}.agent a on a.agent_id = known.agent_id and (a.wallet = $1 or a.owner = $1)
       left join ahs.agent_document d on d.chain_id = $2 and d.agent_id = a.agent_id
       order by a.agent_id limit $3)
      union all
      (select agent_id, registry, document_state, document_detail, fetched_at, services from ahs.registry_agent
       where chain_id = $2 and wallet = $1 and registry = any($4::text[]) order by registry, agent_id limit $3)
    ) as acting order by registry nulls first, agent_id limit $3`;
}

const DAYS = `
  select endpoint, to_char(at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as probes,
         (count(*) filter (where outcome = 'ok'))::int as alive,
         percentile_disc(0.5) within group (order by ms) as "latencyP50Ms",
         percentile_disc(0.95) within group (order by ms) as "latencyP95Ms"
  from (
    select endpoint, at, outcome, case when outcome = 'ok' then least(latency_ms, $5::int) else $5::int end as ms
    from ahs.probe cross join generate_series(1, quarters)
    where ${DECLARED} and at >= $4
  ) as timed
  group by 1, 2 order by 2 desc`;
