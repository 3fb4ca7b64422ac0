import type { Deployment } from "../service/chain/deployments.ts";
import { LOCAL_CHAIN_ID } from "../service/chain/networks.ts";
import type { AccountFactSource } from "../service/ingest/enrich/account-facts.ts";
import { lowerCase } from "../service/ingest/enrich/context.ts";
import { createOtterscanFacts } from "../service/ingest/enrich/otterscan-facts.ts";
import type { Config } from "./config.ts";

/**
 * Who tells creators, first funders and ages of accounts: the node of the history source where that speaks Otterscan, and the
 * local chain's own where nothing is said; null elsewhere.
 */
export function factSourceFromConfig(
  { history, rpcUrl }: Config,
  { chainId, accounts }: Deployment,
): AccountFactSource | null {
  const isOtterscan = (history.source ?? (chainId === LOCAL_CHAIN_ID ? "otterscan" : "none")) === "otterscan";
  const url = history.url ?? rpcUrl;
  if (!isOtterscan || url === null) return null;
  return createOtterscanFacts({ url, entryPoints: new Set(accounts.entryPoints.map(lowerCase)) });
}
