import { LOCAL_CHAIN_ID } from "../service/chain/networks.ts";
import { countSentBy } from "../service/ingest/history/ask-source.ts";
import { createExplorerSource } from "../service/ingest/history/explorer-source.ts";
import type { HistorySource } from "../service/ingest/history/history.ts";
import { createHistoryReader, type HistoryReader } from "../service/ingest/history/history-reader.ts";
import { createOtterscanSource } from "../service/ingest/history/otterscan-source.ts";
import type { Config } from "./config.ts";

/** A reader of the history source that the settings name, with this process's own limits; null where they name none. */
export function historyReaderFromConfig(config: Config, chainId: number): HistoryReader | null {
  const source = historySourceFromConfig(config, chainId);
  return source === null ? null : createHistoryReader({ source, now: () => performance.now() });
}

/**
 * The source that the settings name; null where they name none. Where nothing is said, the local chain's node tells its own
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
        ...{ url: given(history.url), apiKey, pageSize },
        ...(rpcUrl === null ? {} : { countSent: countSentBy({ url: rpcUrl }) }),
      });
  }
}

/** The settings are checked to have one when they are parsed. */
function given(url: string | null): string {
  if (url === null) throw new Error("missing settings: HISTORY_URL");
  return url;
}
