import { type Address, type Hex, parseAbiParameters } from "viem";
import { decodeParameters } from "../../chain/bounded-abi.ts";
import type { TokenSpend } from "./recovery-types.ts";
import { recipientOf, tokensOfPath } from "./swap-path.ts";

/** One exchange of one token for another; addresses are lower-case. */
export type SwapLeg = {
  /** The wrapped form of a native coin. */
  readonly tokenIn: Address;
  /** The token bought, or @ and the pool that decides which it is. */
  readonly target: string;
  readonly recipient: Address;
  /** Null where the amount is a limit and no amount, or is paid in the native coin. */
  readonly spend: TokenSpend | null;
};

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
  return inputs.flatMap((input, place) => {
    const code = commands.slice(2 + 2 * place, 4 + 2 * place);
    if (code === "") return [];
    const leg = readCommand(Number.parseInt(code, 16) & COMMAND_BITS, input, wallet);
    return leg === null ? [] : [leg];
  });
}

/** The router is paid through Permit2: whether the two allowances suffice is left to the simulation. */
function readCommand(command: number, input: Hex, wallet: Address): SwapLeg | null {
  switch (command) {
    case V3_EXACT_IN:
    case V3_EXACT_OUT: {
      const given = decodeParameters(V3, input);
      if (given === null) return null;
      const [recipient, , , path] = given;
      const tokens = tokensOfPath(path);
      return legOf(command === V3_EXACT_IN ? tokens : tokens.toReversed(), recipientOf(recipient, wallet));
    }
    case V2_EXACT_IN:
    case V2_EXACT_OUT: {
      const given = decodeParameters(V2, input);
      if (given === null) return null;
      const [recipient, , , path] = given;
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
