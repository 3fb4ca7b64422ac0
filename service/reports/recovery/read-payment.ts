import { type Address, type Hex, parseAbiParameters, toFunctionSelector } from "viem";
import { decodeParameters } from "../../chain/bounded-abi.ts";
import type { CallIntent } from "./recovery-types.ts";

const TRANSFER = toFunctionSelector("transfer(address,uint256)");
const TRANSFER_FROM = toFunctionSelector("transferFrom(address,address,uint256)");

const TO_AMOUNT = parseAbiParameters("address, uint256");
const FROM_TO_AMOUNT = parseAbiParameters("address, address, uint256");

/** Selectors of the ERC-20 methods that pay. */
export const PAYMENT_SELECTORS: readonly Hex[] = [TRANSFER, TRANSFER_FROM];

/** Its parties are who is paid, and whose tokens pay where those are not the wallet's. */
type Payment = Pick<CallIntent, "keys" | "spends" | "parties">;

type Called = { readonly to: Address; readonly input: Hex };

/** What an ERC-20 transfer or transferFrom, or a plain transfer of the native coin, pays to whom; null for any other call. */
export function readPayment({ to, input }: Called, wallet: Address): Payment | null {
  if (input === "0x") return { keys: [`transfer:native:${lower(to)}`], spends: [], parties: [lower(to)] };
  const token = lower(to);
  const args = `0x${input.slice(10)}` as const;
  switch (input.slice(0, 10).toLowerCase()) {
    case TRANSFER: {
      const paid = decodeParameters(TO_AMOUNT, args);
      // Calldata of this selector that is too short pays nobody.
      if (paid === null) return null;
      const [recipient, amount] = paid;
      return { ...paymentTo(token, recipient), spends: [{ token, spender: null, amount }] };
    }
    case TRANSFER_FROM: {
      const paid = decodeParameters(FROM_TO_AMOUNT, args);
      if (paid === null) return null;
      const [owner, recipient, amount] = paid;
      if (lower(owner) === wallet) {
        return { ...paymentTo(token, recipient), spends: [{ token, spender: wallet, amount }] };
      }
      return { ...paymentTo(token, recipient), parties: [lower(owner), lower(recipient)], spends: [] };
    }
    default:
      return null;
  }
}

function paymentTo(token: Address, recipient: Address): Pick<Payment, "keys" | "parties"> {
  return { keys: [`transfer:${token}:${lower(recipient)}`], parties: [lower(recipient)] };
}

function lower(address: Address): Address {
  return address.toLowerCase() as Address;
}
