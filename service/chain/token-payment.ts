import { type Address, concat, type Hex, pad, toHex } from "viem";

/** Words before the recipient: all but transfer name first whose tokens they are. */
const RECIPIENT_WORD: Readonly<Record<string, number>> = {
  // transfer(address,uint256)
  "0xa9059cbb": 0,
  // transferFrom(address,address,uint256)
  "0x23b872dd": 1,
  // transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,...): (uint8,bytes32,bytes32) or (bytes)
  "0xe3ee160e": 1,
  "0xcf092995": 1,
  // receiveWithAuthorization, alike
  "0xef55bec6": 1,
  "0x88b7ab63": 1,
};

/** Those by which anyone can carry out what another account signed (EIP-3009). */
const AUTHORIZATIONS: ReadonlySet<string> = new Set(["0xe3ee160e", "0xcf092995", "0xef55bec6", "0x88b7ab63"]);

/** transferWithAuthorization by v, r and s. */
const TRANSFER_WITH_AUTHORIZATION = "0xe3ee160e";

const SELECTOR_CHARACTERS = 10;
const WORD_CHARACTERS = 64;
/** An address word whose upper 12 bytes are not zero is refused by every decoder. */
const ADDRESS_WORD = /^0{24}([0-9a-f]{40})$/;

/**
 * Reads the calldata of an ERC-20 transfer or transferFrom, or of an EIP-3009 transfer that the caller signed itself; it may go
 * on after its arguments. Null for every other call, for what another account signed, and for arguments that no token could
 * decode. Addresses are lower-case.
 */
export function readTokenPayment(
  input: string,
  caller: Address,
): { recipient: Address; amount: bigint } | null {
  const calldata = input.toLowerCase();
  const selector = calldata.slice(0, SELECTOR_CHARACTERS);
  const position = RECIPIENT_WORD[selector];
  if (position === undefined) return null;
  if (AUTHORIZATIONS.has(selector) && addressAt(calldata, 0) !== caller) return null;
  const recipient = addressAt(calldata, position);
  const amount = wordAt(calldata, position + 1);
  if (recipient === null || amount.length < WORD_CHARACTERS) return null;
  return { recipient, amount: BigInt(`0x${amount}` satisfies Hex) };
}

/** Calldata of transferWithAuthorization up to the amount, as `readTokenPayment` reads it. */
export function signedPaymentCalldata(payer: Address, payee: Address, amount: bigint): Hex {
  return concat([TRANSFER_WITH_AUTHORIZATION, pad(payer), pad(payee), toHex(amount, { size: 32 })]);
}

function addressAt(calldata: string, word: number): Address | null {
  const digits = ADDRESS_WORD.exec(wordAt(calldata, word))?.[1];
  return digits === undefined ? null : `0x${digits}`;
}

function wordAt(calldata: string, word: number): string {
  const start = SELECTOR_CHARACTERS + word * WORD_CHARACTERS;
  return calldata.slice(start, start + WORD_CHARACTERS);
}
