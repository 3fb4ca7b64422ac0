import type { Logger } from "pino";
import type { PublicClient } from "viem";
import {
  createSettlementSpending,
  type SettlementSpending,
} from "../service/access/payments/settlement-spending.ts";
import type { Deployment } from "../service/chain/deployments.ts";
import { createGasPrice, type GasPrice } from "../service/chain/gas-price.ts";
import { LOCAL_CHAIN_ID } from "../service/chain/networks.ts";
import { lowerCase } from "../service/db/columns.ts";
import { type Database, underDeadline } from "../service/db/database.ts";
import type { AccountFactSource } from "../service/ingest/enrich/account-facts.ts";
import { createNodeFacts } from "../service/ingest/enrich/node-facts.ts";
import { createOtterscanFacts } from "../service/ingest/enrich/otterscan-facts.ts";
import { countSentBy } from "../service/ingest/history/ask-source.ts";
import type { BatchSource } from "../service/ingest/history/batch-source.ts";
import { createExplorerSource } from "../service/ingest/history/explorer-source.ts";
import type { HistorySource } from "../service/ingest/history/history.ts";
import { createHistoryReader, type HistoryReader } from "../service/ingest/history/history-reader.ts";
import { createHyperSyncSource } from "../service/ingest/history/hypersync-source.ts";
import { createOtterscanSource } from "../service/ingest/history/otterscan-source.ts";
import { createRpcSource } from "../service/ingest/history/rpc-source.ts";
import { createSqdSource } from "../service/ingest/history/sqd-source.ts";
import { AHS_2026_2 } from "../service/model/score/policy.ts";
import type { GuardOptions } from "../service/net/guarded-fetch.ts";
import { createNameResolver } from "../service/net/public-address.ts";
import { defaultPublishPolicy, type PublishPolicy } from "../service/oracle/publish-policy.ts";
import type { ScoringRunContext } from "../service/scores/run-scoring.ts";
import { payerOf, readPayerGas } from "../service/sender/payments-sender.ts";
import { readGasSpent } from "../service/sender/sender-transactions.ts";
import type { Config } from "./config.ts";

/** How strangers' URLs are fetched; throws where loopback hosts are allowed for any chain but the local one. */
export function guardFromConfig({ probeLoopback }: Config, chainId: number): GuardOptions {
  if (probeLoopback && chainId !== LOCAL_CHAIN_ID) {
    throw new Error(`PROBE_LOOPBACK=1 is for chain ${LOCAL_CHAIN_ID} alone, and this is chain ${chainId}`);
  }
  return { resolve: createNameResolver(), loopback: probeLoopback ? "allowed" : "refused" };
}

/** A reader of the history source that the settings name, with this process's own limits; null where they name none. */
export function historyReaderFromConfig(config: Config, chainId: number): HistoryReader | null {
  const source = historySourceFromConfig(config, chainId);
  return source === null ? null : createHistoryReader({ source, now: () => performance.now() });
}

/**
 * The source that the settings name; null where they name none. Where nothing is said, the local chain's node is the source of its own
 * history: anvil has the Otterscan methods.
 */
export function historySourceFromConfig({ history, rpcUrl }: Config, chainId: number): HistorySource | null {
  const { pageSize, apiKey } = history;
  const url = history.url ?? rpcUrl;
  const isLocal = chainId === LOCAL_CHAIN_ID && rpcUrl !== null;
  switch (history.source ?? (isLocal ? "otterscan" : "none")) {
    case "none":
      return null;
    case "otterscan":
      return createOtterscanSource({ url: given(url), pageSize });
    case "explorer":
      return createExplorerSource({
        url: given(history.url),
        apiKey,
        pageSize,
        ...(rpcUrl === null ? {} : { countSent: countSentBy({ url: rpcUrl }) }),
      });
  }
}

/** The settings are checked to have one when they are parsed. */
function given(url: string | null): string {
  if (url === null) throw new Error("missing settings: HISTORY_URL");
  return url;
}

/** Of Optimism, Base and their Sepolia test networks: transactions of the OP stack pay an L1 fee, which receipts name. */
const L1_FEE_CHAINS: ReadonlySet<number> = new Set([10, 8_453, 84_532, 11_155_420]);
/** Datasets of the public portal by chain; see https://docs.sqd.dev for more. */
const PUBLIC_DATASETS: ReadonlyMap<number, string> = new Map([[8_453, "base-mainnet"]]);

/** The source of many wallets' past that the settings name; null where they name none. Throws where it needs a URL. */
export function batchSourceFromConfig(
  { historyBatch: { source, url, apiKey }, rpcUrl }: Config,
  chainId: number,
): BatchSource | null {
  const l1Fee = L1_FEE_CHAINS.has(chainId) ? "paid" : "none";
  switch (source) {
    case "none":
      return null;
    case "sqd": {
      const dataset = PUBLIC_DATASETS.get(chainId);
      const named = url ?? (dataset === undefined ? null : `https://portal.sqd.dev/datasets/${dataset}`);
      if (named === null)
        throw new Error(`missing settings: HISTORY_BATCH_URL, a dataset of chain ${chainId}`);
      return createSqdSource({ url: named, apiKey, l1Fee });
    }
    case "hypersync":
      return createHyperSyncSource({ url: url ?? `https://${chainId}.hypersync.xyz`, token: apiKey, l1Fee });
    case "rpc":
      return createRpcSource({ url: given(url ?? rpcUrl), l1Fee });
  }
}

/**
 * Source of creators, first funders and ages of accounts: the node of the history source where that speaks Otterscan, and the
 * local chain's own where nothing is said. Elsewhere the old states of RPC_URL show less; null for HISTORY_SOURCE=none.
 */
export function factSourceFromConfig(
  { history, rpcUrl }: Config,
  { chainId, accounts }: Deployment,
  logger: Pick<Logger, "warn">,
): AccountFactSource | null {
  const source = history.source ?? (chainId === LOCAL_CHAIN_ID ? "otterscan" : "states");
  const url = source === "otterscan" ? (history.url ?? rpcUrl) : rpcUrl;
  if (source === "none" || url === null) return null;
  if (source === "otterscan")
    return createOtterscanFacts({ url, entryPoints: new Set(accounts.entryPoints.map(lowerCase)) });
  const onMissing = () =>
    logger.warn("the node keeps no old states: ages and creators of accounts stay unknown");
  return createNodeFacts({ url, onMissing });
}

/** Context for scoring and for planning publications, by the newest model. */
export function scoringFromConfig(from: {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly db: Database;
  readonly now: () => Date;
  readonly logger: Logger;
}): ScoringRunContext {
  return {
    db: from.db,
    chainId: from.deployment.chainId,
    chain: from.deployment,
    policy: AHS_2026_2,
    publishPolicy: publishPolicyOf(from.config),
    now: from.now,
    rescoreIntervalSeconds: from.config.rescoreIntervalSeconds,
    logger: from.logger,
  };
}

function publishPolicyOf({ dailyGas }: Config): PublishPolicy {
  return dailyGas === null ? defaultPublishPolicy : { ...defaultPublishPolicy, dailyGas };
}

/** Twice its price for a payment, which keeps the cheapest call on sale at a rollup's least fees; a verdict's price for a verdict. */
export const DEFAULT_PERCENT = { x402: 200, verdict: 100 } as const;

/** Price of gas on the deployment's chain. */
export function gasPriceFromConfig(
  { spending }: Config,
  { market }: Deployment,
  client: PublicClient,
  now: () => Date,
): GasPrice {
  const { feed, decimals } = market.native;
  return createGasPrice({ client, feed, decimals, fallbackUsd: spending.nativeCoinUsd, now });
}

/** The bounds of what settlements may cost; null where they have none. */
export function settlementSpendingFromConfig(
  config: Config,
  deployment: Deployment,
  { client, db, now }: { readonly client: PublicClient; readonly db: Database; readonly now: () => Date },
): SettlementSpending | null {
  const maxPercent = maxGasPercent(config, deployment, "x402");
  if (maxPercent === null) return null;
  const { chainId } = deployment;
  return createSettlementSpending({
    gasPrice: gasPriceFromConfig(config, deployment, client, now),
    maxPercent,
    dailyGas: config.spending.dailyGas.x402,
    spentGas: () => readGasSpent(underDeadline(db), { chainId, purposes: ["x402"], now: now() }),
    payerGas: (of) => readPayerGas(underDeadline(db), { chainId, payer: payerOf(chainId, of), now: now() }),
    now,
  });
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
