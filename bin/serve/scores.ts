import { type Address, getAddress, type Hex } from "viem";
import type { LocalAccount } from "viem/accounts";
import { unavailable } from "../../service/access/problems.ts";
import type { ApiPorts } from "../../service/api/create-app.ts";
import { createEpochLists } from "../../service/api/routes/get-epochs.ts";
import type { Attestation } from "../../service/api/schemas/ahs-record.ts";
import type { OutputPorts } from "../../service/api/verification/post-outputs.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { HistoryReader } from "../../service/ingest/history/history-reader.ts";
import { attestScore } from "../../service/oracle/encode.ts";
import { readEpoch, readEpochRoot } from "../../service/oracle/epochs.ts";
import { createUrlVisitor } from "../../service/registries/probes/probe-endpoint.ts";
import { createInfrastructureReader } from "../../service/registries/probes/probes-of-wallet.ts";
import { askingFirst, createSanctionsContract } from "../../service/sanctions/ask-contract.ts";
import { type OnDemandContext, scoreNow, scoreOnDemand } from "../../service/scores/score-on-demand.ts";
import { readInputFile, type StoredScore } from "../../service/scores/scores.ts";
import { createInterestRecorder } from "../../service/scores/wallet-interest.ts";
import { SignerFailure } from "../../service/sender/remote-signer.ts";
import type { Config } from "../config.ts";
import { guardFromConfig } from "../from-config.ts";
import { openAccounts } from "../keys/open-accounts.ts";
import { openChainClient } from "../process.ts";

/** URLs named by callers that one process visits at once. */
const MAX_VISITS = 16;
/** A caller is waiting. */
const CALLER_RPC = { timeoutMs: 3_000, retries: 0 } as const;

type Parts = Omit<OnDemandContext, "history"> & {
  readonly chain: Deployment;
  /** Null where no history source is configured. */
  readonly history: HistoryReader | null;
  /** Null where no scores are served. */
  readonly signer: LocalAccount | null;
  readonly monotonicMs: () => number;
};

/** Scores a wallet for a caller, attests the score, visits the caller's URLs, and serves the files that the score follows from. */
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

/** Null without a history source. With a node, the sanctions contract is asked about new wallets first. */
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

/** A caller is waiting. */
const CALLER_PATIENCE = { timeoutMs: 3_000, retries: 0 } as const;
const RETRY_AFTER_SECONDS = 5;

/** The account that signs scores, null where none are served; throws where they are and its key is not set or cannot be used. */
export async function scoreSigner(config: Config, chainId: number): Promise<LocalAccount | null> {
  if (!config.interfaces.includes("scoring")) return null;
  const asked = { chainId, patience: CALLER_PATIENCE };
  const { signer } = await openAccounts(config, { required: ["signer"] }, asked);
  return signer;
}

/** Signs scores. Rejects with a 503 while a remote signer does not answer, and always without a signer. */
function attestPort(
  signer: LocalAccount | null,
  oracle: { readonly chainId: number; readonly address: Address },
): (row: StoredScore) => Promise<Attestation> {
  if (signer === null)
    return () => Promise.reject(new Error("scores are not served here, and nothing signs them"));
  return async (row) => {
    try {
      return renderAttestation(await attestScore(row, oracle, signer));
    } catch (error) {
      if (!(error instanceof SignerFailure)) throw error;
      const options = { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error };
      throw unavailable("signer-unavailable", "The key that signs scores does not answer.", options);
    }
  };
}

/** JSON has no 64-bit integers: those of the message travel as decimal strings. */
function renderAttestation({
  typedData,
  message,
  signer,
  signature,
}: Awaited<ReturnType<typeof attestScore>>): Attestation {
  return {
    typed_data: {
      domain: typedData.domain,
      types: { Score: typedData.types.Score.map((field) => ({ ...field })) },
      primaryType: typedData.primaryType,
      message: {
        ...message,
        asOf: message.asOf.toString(),
        asOfTime: message.asOfTime.toString(),
        validUntil: message.validUntil.toString(),
      },
    },
    signer,
    signature,
  };
}
