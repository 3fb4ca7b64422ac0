import type { Address, Hex } from "viem";

/** Words before the recipient: transferFrom names first whose tokens they are. */
const RECIPIENT_WORD: Readonly<Record<string, number>> = {
  // transfer(address,uint256)
  "0xa9059cbb": 0,
  // transferFrom(address,address,uint256)
  "0x23b872dd": 1,
};

const SELECTOR_CHARACTERS = 10;
const WORD_CHARACTERS = 64;
/** An address word whose upper 12 bytes are not zero is refused by every decoder. */
const ADDRESS_WORD = /^0{24}([0-9a-f]{40})$/;

/**
 * Reads the calldata of an ERC-20 transfer or transferFrom, which may go on after its arguments; null for every other
 * call, and for arguments that no token could decode. The recipient is lower-case.
 */
export function readTokenPayment(input: string): { recipient: Address; amount: bigint } | null {
  const calldata = input.toLowerCase();
  const position = RECIPIENT_WORD[calldata.slice(0, SELECTOR_CHARACTERS)];
  if (position === undefined) return null;
  const recipient = ADDRESS_WORD.exec(wordAt(calldata, position))?.[1];
  const amount = wordAt(calldata, position + 1);
  if (recipient === undefined || amount.length < WORD_CHARACTERS) return null;
  return { recipient: `0x${recipient}`, amount: BigInt(`0x${amount}` satisfies Hex) };
}

function wordAt(calldata: string, word: number): string {
  const start = SELECTOR_CHARACTERS + word * WORD_CHARACTERS;
  return calldata.slice(start, start + WORD_CHARACTERS);
}
