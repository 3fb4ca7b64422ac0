import { authorizationTypes } from "@x402/evm";
import { type Address, encodeFunctionData, type Hex, numberToHex } from "viem";
import type { LocalAccount } from "viem/accounts";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";

const FAR_FUTURE = 4_102_444_800n;

type Payment = {
  readonly to: Address;
  readonly amount: bigint;
  /** Numbers the payments of one payer. */
  readonly nonce: number;
  /** Whether the payee alone may carry it out. */
  readonly byPayee?: boolean;
};

/** Calldata by which any account can carry out a payment in the local USDC that the payer signs (EIP-3009). */
export async function signPayment(usdc: Address, payer: LocalAccount, payment: Payment): Promise<Hex> {
  const { to, amount: value, byPayee = false } = payment;
  const nonce = numberToHex(payment.nonce, { size: 32 });
  const message = { from: payer.address, to, value, validAfter: 0n, validBefore: FAR_FUTURE, nonce };
  const typed = authorizationTypes.TransferWithAuthorization;
  const domain = { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract: usdc };
  const signature = byPayee
    ? await payer.signTypedData({
        ...{ domain, message, types: { ReceiveWithAuthorization: typed } },
        primaryType: "ReceiveWithAuthorization",
      })
    : await payer.signTypedData({
        ...{ domain, message, types: { TransferWithAuthorization: typed } },
        primaryType: "TransferWithAuthorization",
      });
  return encodeFunctionData({
    abi: usdCoinAbi,
    functionName: byPayee ? "receiveWithAuthorization" : "transferWithAuthorization",
    args: [payer.address, to, value, 0n, FAR_FUTURE, nonce, signature],
  });
}
