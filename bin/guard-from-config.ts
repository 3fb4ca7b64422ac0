import { LOCAL_CHAIN_ID } from "../service/chain/networks.ts";
import type { GuardOptions } from "../service/net/guarded-fetch.ts";
import { createNameResolver } from "../service/net/public-address.ts";
import type { Config } from "./config.ts";

/** How strangers' URLs are fetched; throws where loopback hosts are allowed for any chain but the local one. */
export function guardFromConfig({ probeLoopback }: Config, chainId: number): GuardOptions {
  if (probeLoopback && chainId !== LOCAL_CHAIN_ID) {
    throw new Error(`PROBE_LOOPBACK=1 is for chain ${LOCAL_CHAIN_ID} alone, and this is chain ${chainId}`);
  }
  return { resolve: createNameResolver(), loopback: probeLoopback ? "allowed" : "refused" };
}
