import { type Address, encodeFunctionData, type Hex, parseAbi } from "viem";
import type { AskNode } from "./ask-node.ts";
import { bytesAnswer } from "./node-answers.ts";
import type { Attempt } from "./recovery-node.ts";
import { serializeUnsigned } from "./unsigned-transaction.ts";

/** Where OP-stack rollups tell what posting a transaction costs; elsewhere there is nothing. */
const GAS_PRICE_ORACLE: Address = "0x420000000000000000000000000000000000000f";
const gasPriceOracleAbi = parseAbi(["function getL1Fee(bytes data) view returns (uint256)"]);
const WORD = /^0x[0-9a-f]{64}$/;

/** Wei for posting the call to L1 beside its gas, a tenth more than now; 0 on chains without such a fee. */
export async function readL1Fee(ask: AskNode, { to, data, value }: Attempt, at: Hex): Promise<bigint> {
  const sample = serializeUnsigned({
    ...{ type: "eip1559", chainId: 2 ** 32, nonce: 2 ** 32, to, data, value, gas: 2n ** 32n },
    ...{ maxFeePerGas: 2n ** 40n, maxPriorityFeePerGas: 2n ** 40n },
  });
  const question = encodeFunctionData({
    abi: gasPriceOracleAbi,
    functionName: "getL1Fee",
    args: [sample],
  });
  const answer = await ask(bytesAnswer, "eth_call", [{ to: GAS_PRICE_ORACLE, data: question }, at]);
  if (answer.kind === "refused" || !WORD.test(answer.value)) return 0n;
  return (BigInt(answer.value) * 11n) / 10n;
}
