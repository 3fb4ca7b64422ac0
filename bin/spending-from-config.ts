import type { PublicClient } from "viem";
import type { Deployment } from "../service/chain/deployments.ts";
import { createGasPrice, type GasPrice } from "../service/chain/gas-price.ts";
import { LOCAL_CHAIN_ID } from "../service/chain/networks.ts";
import type { Config } from "./config.ts";

/** Twice its price for a payment, which keeps the cheapest call on sale at a rollup's least fees; a verdict's price for a verdict. */
const DEFAULT_PERCENT = { x402: 200, verdict: 100 } as const;

/** What gas costs on the deployment's chain. */
export function gasPriceFromConfig(
  { spending }: Config,
  { market }: Deployment,
  client: PublicClient,
  now: () => Date,
): GasPrice {
  const { feed, decimals } = market.native;
  return createGasPrice({ client, feed, decimals, fallbackUsd: spending.nativeCoinUsd, now });
}

/** The share of a price, in per cent, that its gas may cost; null for no bound, as on the local chain, whose coins are worth nothing. */
export function maxGasPercent(
  { spending }: Config,
  { chainId }: Deployment,
  of: keyof typeof DEFAULT_PERCENT,
): number | null {
  const given = of === "x402" ? spending.x402Percent : spending.verdictPercent;
  return given ?? (chainId === LOCAL_CHAIN_ID ? null : DEFAULT_PERCENT[of]);
}
