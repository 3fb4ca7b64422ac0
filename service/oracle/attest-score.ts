import { type Address, getAddress, type Hex } from "viem";
import type { LocalAccount } from "viem/accounts";
import { oracleValiditySeconds, scoreMessage, scoreTypedData } from "../chain/oracle-codec.ts";
import type { OracleMessage } from "../chain/oracle-types.ts";
import { oracleScoreOf } from "./encode.ts";
import type { ScoreRow } from "./publish-scores.ts";

export type SignedScore = {
  readonly typedData: ReturnType<typeof scoreTypedData>;
  readonly message: OracleMessage;
  readonly signer: Address;
  readonly signature: Hex;
};

/** Signs a stored score for one oracle, as EIP-712 data that publishSigned accepts from anyone for 48 hours from its as-of time. */
export async function attestScore(
  row: ScoreRow,
  oracle: { readonly chainId: number; readonly address: Address },
  signer: LocalAccount,
): Promise<SignedScore> {
  const asOfTime = BigInt(Math.floor(row.asOfTime.getTime() / 1000));
  const times = { asOf: BigInt(row.asOfBlock), asOfTime, validUntil: asOfTime + oracleValiditySeconds };
  const message = scoreMessage(oracleScoreOf(row), times);
  const typedData = scoreTypedData(oracle, message);
  return {
    typedData,
    message,
    signer: getAddress(signer.address),
    signature: await signer.signTypedData(typedData),
  };
}
