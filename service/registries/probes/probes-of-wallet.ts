import type { Address } from "viem";
import { type Deployment, registriesByAddress } from "../../chain/deployments.ts";
import { type Database, rowsInTime } from "../../db/database.ts";
import type { agentDocument, DocumentState, EndpointKind, probe } from "../../db/tables/infrastructure.ts";
import { endpointDays, endpointPlaces, endpointProbes, walletAgents } from "./probes-of-wallet.sql.ts";

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

/** Reads of documents and probes, and of the agents in the views of one chain's index. */
export function createInfrastructureReader(db: Database, chain: Pick<Deployment, "chainId" | "registries">) {
  const { chainId } = chain;
  const registries = [...registriesByAddress(chain).keys()];
  return {
    /** Agents that act for the wallet (lower-case), by rising id, those of the followed registry first. */
    agents(wallet: Address): Promise<readonly WalletAgent[]> {
      return rowsInTime<WalletAgent>(db, walletAgents(chainId, { wallet, registries }));
    },
    /** From a moment on, oldest first. */
    async probes(declared: readonly DeclaredEndpoint[], since: Date): Promise<readonly StoredProbe[]> {
      return rowsInTime<StoredProbe>(db, endpointProbes({ chainId, ...columnsOf(declared), since }));
    },
    /**
     * How endpoints are visited at present; those that are not have no entry. regular: each quarter of an hour. in_turns: less
     * often, since the domain declares too many.
     */
    async probing(
      declared: readonly DeclaredEndpoint[],
    ): Promise<ReadonlyMap<string, "regular" | "in_turns">> {
      const statement = endpointPlaces({ chainId, ...columnsOf(declared) });
      const rows = await rowsInTime<{ endpoint: string; isRegular: boolean }>(db, statement);
      return new Map(rows.map(({ endpoint, isRegular }) => [endpoint, isRegular ? "regular" : "in_turns"]));
    },
    /** Of the days from a moment on, newest first. */
    async days(
      declared: readonly DeclaredEndpoint[],
      since: Date,
      longestMs: number,
    ): Promise<readonly ProbeDay[]> {
      return rowsInTime<ProbeDay>(db, endpointDays({ chainId, ...columnsOf(declared), since, longestMs }));
    },
  };
}

function columnsOf(declared: readonly DeclaredEndpoint[]) {
  return {
    endpoints: declared.map(({ endpoint }) => endpoint),
    kinds: declared.map(({ kind }) => kind),
  };
}
