import { escapeIdentifier } from "pg";
import type { Address } from "viem";
import { type Database, QUERY_DEADLINE } from "../../db/database.ts";
import type {
  DeclaredService,
  DocumentState,
  EndpointKind,
  ProbeOutcome,
} from "../../db/tables/infrastructure.ts";

/** What an agent of a wallet declares; the state is null while its document has not been asked for. */
export type WalletAgent = {
  readonly agentId: string;
  readonly state: DocumentState | null;
  readonly detail: string | null;
  /** When its last good document was fetched. */
  readonly fetchedAt: Date | null;
  readonly services: readonly DeclaredService[];
};

export type StoredProbe = {
  readonly endpoint: string;
  readonly at: Date;
  readonly outcome: ProbeOutcome;
  readonly status: number | null;
  readonly latencyMs: number | null;
  readonly valid: boolean | null;
  readonly detail: string | null;
  /** Quarter hours that it stands for. */
  readonly quarters: number;
};

/**
 * The probes of one endpoint on one UTC day, each for every quarter hour that it stands for; one that failed counts as having
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

/** regular: visited each quarter of an hour. in_turns: less often, since its domain declares too many. none: not visited at present. */
type Probing = "regular" | "in_turns" | "none";

/** Reads of what D3 is made from. */
export type InfrastructureReader = {
  /** Agents that act for the wallet (lower-case), by rising id. */
  agents(wallet: Address): Promise<readonly WalletAgent[]>;
  /** From a moment on, oldest first. */
  probes(endpoints: readonly DeclaredEndpoint[], since: Date): Promise<readonly StoredProbe[]>;
  /** How endpoints are visited at present; those that are not have no entry. */
  probing(endpoints: readonly DeclaredEndpoint[]): Promise<ReadonlyMap<string, Exclude<Probing, "none">>>;
  /** Of the days from a moment on, newest first. */
  days(endpoints: readonly DeclaredEndpoint[], since: Date, longestMs: number): Promise<readonly ProbeDay[]>;
};

/** More than one wallet has, but for hosts of many agents, whose first ones speak for them. */
const MAX_AGENTS = 50;

/** Reads of documents and probes, and of the agents in the views of one chain's index. */
export function createInfrastructureReader(db: Database, chainId: number): InfrastructureReader {
  const views = escapeIdentifier(`chain_${chainId}`);
  const pool = db.$client;
  return {
    async agents(wallet) {
      const { rows } = await pool.query<AgentRow>({
        ...QUERY_DEADLINE,
        name: "wallet_agents",
        text: agentsStatement(views),
        values: [wallet, chainId, MAX_AGENTS],
      });
      return rows.map((row) => ({
        agentId: row.agent_id,
        state: row.state,
        detail: row.detail,
        fetchedAt: row.fetched_at,
        services: row.services ?? [],
      }));
    },
    async probes(endpoints, since) {
      const { rows } = await pool.query<StoredProbe>({
        ...QUERY_DEADLINE,
        name: "endpoint_probes",
        text: `select endpoint, at, outcome, status, latency_ms as "latencyMs", valid, detail, quarters
               from ahs.probe where ${DECLARED} and at >= $4 order by at, id`,
        values: [chainId, ...columnsOf(endpoints), since],
      });
      return rows;
    },
    async probing(endpoints) {
      const { rows } = await pool.query<{ endpoint: string; isRegular: boolean }>({
        ...QUERY_DEADLINE,
        name: "endpoint_places",
        text: `select endpoint, bool_and(place = 'kept') as "isRegular" from ahs.probe_schedule
               where chain_id = $1 and (endpoint, kind) in (select * from unnest($2::text[], $3::text[]))
               group by endpoint`,
        values: [chainId, ...columnsOf(endpoints)],
      });
      return new Map(rows.map(({ endpoint, isRegular }) => [endpoint, isRegular ? "regular" : "in_turns"]));
    },
    async days(endpoints, since, longestMs) {
      const { rows } = await pool.query<ProbeDay>({
        ...QUERY_DEADLINE,
        name: "endpoint_days",
        text: DAYS,
        values: [chainId, ...columnsOf(endpoints), since, longestMs],
      });
      return rows;
    },
  };
}

function columnsOf(endpoints: readonly DeclaredEndpoint[]): readonly [string[], string[]] {
  return [endpoints.map(({ endpoint }) => endpoint), endpoints.map(({ kind }) => kind)];
}

const DECLARED = `chain_id = $1 and endpoint = any($2::text[])
  and (kind is null or (endpoint, kind) in (select * from unnest($2::text[], $3::text[])))`;

type AgentRow = {
  readonly agent_id: string;
  readonly state: DocumentState | null;
  readonly detail: string | null;
  readonly fetched_at: Date | null;
  readonly services: readonly DeclaredService[] | null;
};

/**
 * An agent counts for its wallet, and for its owner where the owner has been its wallet: a stranger who hands an agent over
 * cannot make the receiver answer for its endpoints, since being the wallet takes the wallet's own act.
 */
function agentsStatement(views: string): string {
  return `
    select a.agent_id::text as agent_id, d.state, d.detail, d.fetched_at, d.services
    from (select distinct agent_id from ${views}.agent_wallet where wallet = $1) as known
    join ${views}.agent a on a.agent_id = known.agent_id and (a.wallet = $1 or a.owner = $1)
    left join ahs.agent_document d on d.chain_id = $2 and d.agent_id = a.agent_id
    order by a.agent_id limit $3`;
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
