import { type Address, getAddress, type Hex } from "viem";
import type { LocalAccount } from "viem/accounts";
import type { ApiPorts } from "../../service/api/create-app.ts";
import { createEpochLists } from "../../service/api/routes/get-epochs.ts";
import type { OutputPorts } from "../../service/api/verification/post-outputs.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { HistoryReader } from "../../service/ingest/history/history-reader.ts";
import { readEpoch, readEpochRoot } from "../../service/oracle/epochs.ts";
import { createUrlVisitor } from "../../service/registries/probes/probe-endpoint.ts";
import { createInfrastructureReader } from "../../service/registries/probes/probes-of-wallet.ts";
import { askingFirst, createSanctionsContract } from "../../service/sanctions/ask-contract.ts";
import { type OnDemandContext, scoreNow, scoreOnDemand } from "../../service/scores/score-on-demand.ts";
import { readInputFile } from "../../service/scores/scores.ts";
import { createInterestRecorder } from "../../service/scores/wallet-interest.ts";
import type { Config } from "../config.ts";
import { guardFromConfig } from "../guard-from-config.ts";
import { openChainClient } from "../process.ts";
import { attestPort } from "./attest.ts";

/** URLs named by callers that one process visits at once. */
const MAX_VISITS = 16;
/** A caller waits meanwhile. */
const CALLER_RPC = { timeoutMs: 3_000, retries: 0 } as const;

type Parts = Omit<OnDemandContext, "history"> & {
  readonly chain: Deployment;
  /** Null where no history source is configured. */
  readonly history: HistoryReader | null;
  /** Null where no scores are served. */
  readonly signer: LocalAccount | null;
  readonly monotonicMs: () => number;
};

/** What scores a wallet for a caller, attests the score, visits URLs named beside it, and serves the files that it follows from. */
export function scorePorts(
  config: Config,
  parts: Parts,
): Pick<
  ApiPorts,
  | "scoreNow"
  | "scoreOnDemand"
  | "attest"
  | "oracle"
  | "policy"
  | "infrastructure"
  | "recordInterest"
  | "inputFile"
  | "epochList"
> &
  Pick<OutputPorts, "refuseUrl"> {
  const { db, chainId, chain, policy, now, signer, monotonicMs } = parts;
  const guard = guardFromConfig(config, chainId);
  const visitor = createUrlVisitor({ guard, monotonicMs, maxAtOnce: MAX_VISITS });
  return {
    scoreNow: (address: Address) => scoreNow(parts, address),
    scoreOnDemand: onDemand(parts, config.rpcUrl),
    attest: attestPort(signer, { chainId, address: chain.oracle.address }),
    oracle: getAddress(chain.oracle.address),
    policy,
    infrastructure: { ...createInfrastructureReader(db, chainId), ...visitor },
    refuseUrl: visitor.refusal,
    recordInterest: createInterestRecorder(db, chainId, now),
    inputFile: (hash: Hex) => readInputFile(db, hash),
    epochList: createEpochLists({
      root: (number) => readEpochRoot(db, chainId, number),
      stored: (number) => readEpoch(db, chainId, number),
    }),
  };
}

/** Null where no history source is configured; with a node, the sanctions contract is asked about whom nobody asked it before. */
function onDemand(context: Parts, rpcUrl: string | null) {
  const { history, chain } = context;
  if (history === null) return null;
  const score = (address: Address) => scoreOnDemand({ ...context, history }, address);
  if (rpcUrl === null || chain.sanctionsList === null) return score;
  const client = openChainClient(rpcUrl, CALLER_RPC);
  return askingFirst(
    { ...context, contract: createSanctionsContract(client, chain.sanctionsList.address) },
    score,
  );
}
