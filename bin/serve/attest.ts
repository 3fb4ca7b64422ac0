import type { Address } from "viem";
import type { Attestation } from "../../service/api/scores/ahs-record-schema.ts";
import { attestScore } from "../../service/record/attest-score.ts";
import type { StoredScore } from "../../service/store/scores.ts";
import { accountFromConfig } from "../account-from-config.ts";
import type { Config } from "../config.ts";

/**
 * What signs scores, by SIGNER_PRIVATE_KEY, which is asked for where scores are served alone: throws without it there. Elsewhere
 * nothing asks for a signature.
 */
export function attestPort(
  config: Config,
  { chainId, oracle }: { readonly chainId: number; readonly oracle: Address },
): (row: StoredScore) => Promise<Attestation> {
  if (!config.interfaces.includes("scoring"))
    return () => Promise.reject(new Error("scores are not served here, and nothing signs them"));
  const signer = accountFromConfig(config, chainId, "SIGNER_PRIVATE_KEY");
  return async (row) => renderAttestation(await attestScore(row, { chainId, address: oracle }, signer));
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
