import type { Address } from "viem";
import { type Database, QUERY_DEADLINE } from "../../db/database.ts";
import type { SanctionsFlag } from "../../model/features/types.ts";
import type { Grade } from "../../model/score/record.ts";
import { type RegisteredAgent, readAgentNames } from "../../registries/documents/agent-names.ts";
import { readSanctionsFlags } from "../../sanctions/sanctions.ts";

/** Current facts about an account that the wallet dealt with. */
export type AccountDetail = {
  readonly address: Address;
  /** The first three agents whose current wallet it is. */
  readonly agents: readonly RegisteredAgent[];
  /** Null where no source knows. */
  readonly hasCode: boolean | null;
  /** Null for an account never scored. A sanctioned account scores 0 at once. */
  readonly score: { readonly ahsScore: number | null; readonly grade: Grade | null } | null;
  /** Flags of all sources at the newest indexed block; empty without any. */
  readonly sanctions: readonly SanctionsFlag[];
};

/** Reads facts about distinct lower-case accounts by primary-key lookups only. */
export function createAccountReader(
  db: Database,
  chainId: number,
): (addresses: readonly Address[]) => Promise<ReadonlyMap<Address, AccountDetail>> {
  return async (addresses) => {
    const [facts, agents, flags] = await Promise.all([
      readFacts(db, chainId, addresses),
      readAgentNames(db, chainId, addresses),
      readSanctionsFlags(db, { schema: `chain_${chainId}`, chainId }, addresses),
    ]);
    const describe = (address: Address): AccountDetail => {
      const fact = facts.get(address);
      const sanctions = flags.get(address) ?? [];
      return {
        address,
        hasCode: fact?.hasCode ?? null,
        agents: agents.get(address) ?? [],
        sanctions,
        score: sanctions.length > 0 ? { ahsScore: 0, grade: "F" } : (fact?.score ?? null),
      };
    };
    return new Map(addresses.map((address) => [address, describe(address)]));
  };
}

async function readFacts(db: Database, chainId: number, addresses: readonly Address[]) {
  const { rows } = await db.$client.query<{
    address: Address;
    hasCode: boolean | null;
    isScored: boolean;
    ahsScore: number | null;
    grade: Grade | null;
  }>({
    ...QUERY_DEADLINE,
    name: "account_details",
    text: `
      select wanted.address, fact.has_code as "hasCode", current.wallet is not null as "isScored",
        current.ahs_score as "ahsScore", current.grade
      from unnest($2::text[]) as wanted (address)
      left join ahs.account_fact fact on fact.chain_id = $1 and fact.address = wanted.address
      left join ahs.current_score current on current.chain_id = $1 and current.wallet = wanted.address`,
    values: [chainId, addresses],
  });
  return new Map(
    rows.map(({ address, hasCode, isScored, ahsScore, grade }) => [
      address,
      { hasCode, score: isScored ? { ahsScore, grade } : null },
    ]),
  );
}
