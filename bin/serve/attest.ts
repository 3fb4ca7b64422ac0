import type { Address } from "viem";
import type { LocalAccount } from "viem/accounts";
import { unavailable } from "../../service/access/problems.ts";
import type { Attestation } from "../../service/api/schemas/ahs-record.ts";
import type { Database } from "../../service/db/database.ts";
import { attestScore } from "../../service/oracle/encode.ts";
import { readSafeAmounts, withBacking } from "../../service/oracle/publish-scores.ts";
import type { StoredScore } from "../../service/scores/stored-score.ts";
import { SignerFailure } from "../../service/sender/remote-signer.ts";
import type { Config } from "../config.ts";
import { openAccounts } from "../keys/open-accounts.ts";

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

/** Signs scores with the safe amounts of their wallets now. Rejects with a 503 while a remote signer does not answer, and always without a signer. */
export function attestWith(
  db: Database,
  signer: LocalAccount | null,
  oracle: { readonly chainId: number; readonly address: Address },
): (row: StoredScore) => Promise<Attestation> {
  if (signer === null)
    return () => Promise.reject(new Error("scores are not served here, and nothing signs them"));
  return async (row) => {
    try {
      const amounts = await readSafeAmounts(db, oracle.chainId, [row.wallet]);
      const backed = withBacking(row, amounts.get(row.wallet));
      return renderAttestation(await attestScore(backed, oracle, signer));
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
