import { type Address, decodeAbiParameters, type Hex, parseAbiParameters } from "viem";
import type { SwapLeg } from "./read-swap.ts";
import { recipientOf, tokensOfPath } from "./swap-path.ts";

const V3 = parseAbiParameters("address, uint256, uint256, bytes, bool");
const V2 = parseAbiParameters("address, uint256, uint256, address[], bool");

/** Commands of Uniswap's Universal Router, without the bit that allows one to fail. */
const V3_EXACT_IN = 0x00;
const V3_EXACT_OUT = 0x01;
const V2_EXACT_IN = 0x08;
const V2_EXACT_OUT = 0x09;
const COMMAND_BITS = 0x3f;

type Execution = { readonly commands: Hex; readonly inputs?: readonly Hex[] | undefined };

/** V2 and V3 exchanges among a Universal Router's commands; others are left out, malformed ones as well. */
export function readCommands({ commands, inputs = [] }: Execution, wallet: Address): readonly SwapLeg[] {
  const codes = commands.slice(2).match(/../g) ?? [];
  return codes.flatMap((code, place) => {
    const input = inputs[place];
    if (input === undefined) return [];
    const leg = readOrNull(Number.parseInt(code, 16) & COMMAND_BITS, input, wallet);
    return leg === null ? [] : [leg];
  });
}

function readOrNull(command: number, input: Hex, wallet: Address): SwapLeg | null {
  try {
    return readCommand(command, input, wallet);
  } catch {
    // Strangers write calldata: what cannot be decoded is no swap.
    return null;
  }
}

/** The router is paid through Permit2: whether the two allowances suffice is left to the simulation. */
function readCommand(command: number, input: Hex, wallet: Address): SwapLeg | null {
  switch (command) {
    case V3_EXACT_IN:
    case V3_EXACT_OUT: {
      const [recipient, , , path] = decodeAbiParameters(V3, input);
      const tokens = tokensOfPath(path);
      return legOf(command === V3_EXACT_IN ? tokens : tokens.toReversed(), recipientOf(recipient, wallet));
    }
    case V2_EXACT_IN:
    case V2_EXACT_OUT: {
      const [recipient, , , path] = decodeAbiParameters(V2, input);
      return legOf(path, recipientOf(recipient, wallet));
    }
    default:
      return null;
  }
}

function legOf(tokens: readonly Address[], recipient: Address): SwapLeg | null {
  const [first, last] = [tokens.at(0), tokens.at(-1)];
  if (first === undefined || last === undefined) return null;
  const target = last.toLowerCase();
  return { tokenIn: first.toLowerCase() as Address, target, recipient, spend: null };
}
