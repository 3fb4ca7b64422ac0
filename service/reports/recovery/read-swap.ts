import {
  type AbiFunction,
  type Address,
  type Hex,
  parseAbiItem,
  parseAbiParameters,
  toFunctionSelector,
} from "viem";
import { z } from "zod";
import { decodeParameters } from "../../chain/bounded-abi.ts";
import { lowerCase } from "../../db/columns.ts";

const ROUTES = "(address from, address to, bool stable, address factory)[] routes";
const TIMED = "address recipient, uint256 deadline";

/**
 * Methods of Uniswap's V2 and V3 routers and their copies, of Aerodrome's router, and of pools called directly. The
 * parameter names decide how they are read: amountIn is an exact amount taken from the caller.
 */
const SWAPS: readonly string[] = [
  "swapExactTokensForTokens(uint256 amountIn, uint256 least, address[] path, address to, uint256 deadline)",
  "swapExactTokensForETH(uint256 amountIn, uint256 least, address[] path, address to, uint256 deadline)",
  "swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 least, address[] path, address to, uint256 deadline)",
  "swapExactTokensForETHSupportingFeeOnTransferTokens(uint256 amountIn, uint256 least, address[] path, address to, uint256 deadline)",
  "swapTokensForExactTokens(uint256 out, uint256 most, address[] path, address to, uint256 deadline)",
  "swapTokensForExactETH(uint256 out, uint256 most, address[] path, address to, uint256 deadline)",
  "swapExactETHForTokens(uint256 least, address[] path, address to, uint256 deadline)",
  "swapExactETHForTokensSupportingFeeOnTransferTokens(uint256 least, address[] path, address to, uint256 deadline)",
  "swapETHForExactTokens(uint256 out, address[] path, address to, uint256 deadline)",
  "swapExactTokensForTokens(uint256 amountIn, uint256 least, address[] path, address to)",
  "swapTokensForExactTokens(uint256 out, uint256 most, address[] path, address to)",
  `swapExactTokensForTokens(uint256 amountIn, uint256 least, ${ROUTES}, address to, uint256 deadline)`,
  `swapExactTokensForETH(uint256 amountIn, uint256 least, ${ROUTES}, address to, uint256 deadline)`,
  `swapExactETHForTokens(uint256 least, ${ROUTES}, address to, uint256 deadline)`,
  `exactInputSingle((address tokenIn, address tokenOut, uint24 fee, ${TIMED}, uint256 amountIn, uint256 least, uint160 limit) given)`,
  `exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, ${TIMED}, uint256 out, uint256 most, uint160 limit) given)`,
  `exactInput((bytes path, ${TIMED}, uint256 amountIn, uint256 least) given)`,
  `exactOutput((bytes reversePath, ${TIMED}, uint256 out, uint256 most) given)`,
  "exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 least, uint160 limit) given)",
  "exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 out, uint256 most, uint160 limit) given)",
  "exactInput((bytes path, address recipient, uint256 amountIn, uint256 least) given)",
  "exactOutput((bytes reversePath, address recipient, uint256 out, uint256 most) given)",
  "swap(address tokenIn, uint256 amountIn, uint256 least, address to)",
  "multicall(bytes[] calls)",
  "multicall(uint256 deadline, bytes[] calls)",
  "execute(bytes commands, bytes[] inputs, uint256 deadline)",
  "execute(bytes commands, bytes[] inputs)",
];

const METHODS: ReadonlyMap<string, AbiFunction> = new Map(
  SWAPS.map((signature) => {
    const method = parseAbiItem(`function ${signature}`) as AbiFunction;
    return [toFunctionSelector(method), method];
  }),
);

/** Selectors of all these methods. */
export const SWAP_SELECTORS: readonly Hex[] = [...METHODS.keys()] as Hex[];

/** Most hex digits of decoded calldata: 16 KiB are several times a usual router call. */
const MAX_DIGITS = 32_768;
/** Deepest nesting of multicalls that is read. */
const MAX_DEPTH = 2;

const address = z.custom<Address>((value) => typeof value === "string");
const bytes = z.custom<Hex>((value) => typeof value === "string");

const named = z.object({
  amountIn: z.bigint().optional(),
  deadline: z.bigint().optional(),
  tokenIn: address.optional(),
  tokenOut: address.optional(),
  path: z.union([z.array(address), bytes]).optional(),
  reversePath: bytes.optional(),
  routes: z.array(z.object({ from: address, to: address })).optional(),
  to: address.optional(),
  recipient: address.optional(),
  calls: z.array(bytes).optional(),
  commands: bytes.optional(),
  inputs: z.array(bytes).optional(),
});

type Named = z.infer<typeof named>;

/**
 * Reads the exchanges of a call to a known router or pool; empty if only the deadline is readable, null for other calls
 * and malformed calldata. `depth` is of nested multicalls.
 */
export function readSwap(
  call: { readonly to: Address; readonly input: Hex; readonly value: bigint },
  wallet: Address,
  depth = 0,
): { readonly legs: readonly SwapLeg[]; readonly deadline: bigint | null } | null {
  const method = METHODS.get(call.input.slice(0, 10).toLowerCase());
  if (method === undefined) return null;
  const given = decodeNamed(method, call.input);
  if (given === null) return null;
  const deadline = given.deadline ?? null;
  if (given.commands !== undefined)
    return { legs: readCommands(given.commands, given.inputs ?? [], wallet), deadline };
  if (given.calls === undefined) return { legs: legOf(given, call, wallet), deadline };
  if (depth >= MAX_DEPTH) return { legs: [], deadline };
  const inner = given.calls.map((input) => readSwap({ ...call, input }, wallet, depth + 1));
  const deadlines = [deadline, ...inner.map((reading) => reading?.deadline ?? null)];
  return { legs: inner.flatMap((reading) => reading?.legs ?? []), deadline: earliest(deadlines) };
}

function decodeNamed(method: AbiFunction, input: Hex): Named | null {
  if (input.length > MAX_DIGITS) return null;
  const values = decodeParameters(method.inputs, `0x${input.slice(10)}`);
  if (values === null) return null;
  const [only] = values;
  const entries = method.inputs.map(({ name }, place) => [name ?? "", values[place]] as const);
  const isTuple = method.inputs[0]?.type === "tuple";
  return named.parse(isTuple ? only : Object.fromEntries(entries));
}

function legOf(
  given: Named,
  { to, value }: { to: Address; value: bigint },
  wallet: Address,
): readonly SwapLeg[] {
  const ends = endsOf(given, to);
  const receiver = given.to ?? given.recipient;
  if (ends === null || receiver === undefined) return [];
  const { amountIn } = given;
  const isTaken = amountIn !== undefined && amountIn > 0n && value === 0n;
  const spend = isTaken ? { token: ends.tokenIn, spender: lowerCase(to), amount: amountIn } : null;
  return [{ ...ends, recipient: recipientOf(receiver, wallet), spend }];
}

function endsOf(given: Named, called: Address): Pick<SwapLeg, "tokenIn" | "target"> | null {
  const tokens = given.tokenIn === undefined ? tokensOfRoute(given) : [given.tokenIn, given.tokenOut];
  const [first, last] = [tokens.at(0), tokens.at(-1)];
  if (first === undefined) return null;
  return {
    tokenIn: lowerCase(first),
    target: last === undefined ? `@${lowerCase(called)}` : lowerCase(last),
  };
}

function tokensOfRoute({ path, reversePath, routes }: Named): readonly Address[] {
  if (routes !== undefined) return routes.flatMap(({ from, to }) => [from, to]);
  if (reversePath !== undefined) return tokensOfPath(reversePath).toReversed();
  if (path === undefined) return [];
  return typeof path === "string" ? tokensOfPath(path) : path;
}

function earliest(deadlines: readonly (bigint | null)[]): bigint | null {
  const given = deadlines.filter((deadline) => deadline !== null);
  const [first = null] = given.toSorted((a, b) => (a < b ? -1 : 1));
  return first;
}

/** One exchange of tokens; addresses are lower-case. */
type SwapLeg = {
  /** The wrapped form of a native coin. */
  readonly tokenIn: Address;
  /** The bought token, or @ and the pool that determines it. */
  readonly target: string;
  readonly recipient: Address;
  /** Null where the amount is a limit and no amount, or is paid in the native coin. */
  readonly spend: TokenSpend | null;
};

const V3 = parseAbiParameters("address, uint256, uint256, bytes, bool");
const V2 = parseAbiParameters("address, uint256, uint256, address[], bool");

/** Commands of Uniswap's Universal Router, without the bit that allows failure. */
const V3_EXACT_IN = 0x00;
const V3_EXACT_OUT = 0x01;
const V2_EXACT_IN = 0x08;
const V2_EXACT_OUT = 0x09;
const COMMAND_BITS = 0x3f;

/** Reads V2 and V3 exchanges of a Universal Router's commands; skips others and malformed ones. */
function readCommands(commands: Hex, inputs: readonly Hex[], wallet: Address): readonly SwapLeg[] {
  return inputs.flatMap((input, place) => {
    const code = commands.slice(2 + 2 * place, 4 + 2 * place);
    if (code === "") return [];
    const leg = readCommand(Number.parseInt(code, 16) & COMMAND_BITS, input, wallet);
    return leg === null ? [] : [leg];
  });
}

/** The router is paid through Permit2: whether the two allowances suffice is left to the simulation. */
function readCommand(command: number, input: Hex, wallet: Address): SwapLeg | null {
  const isV3 = command === V3_EXACT_IN || command === V3_EXACT_OUT;
  if (!isV3 && command !== V2_EXACT_IN && command !== V2_EXACT_OUT) return null;
  const given = isV3 ? decodeParameters(V3, input) : decodeParameters(V2, input);
  if (given === null) return null;
  const [recipient, , , path] = given;
  const tokens = typeof path === "string" ? tokensOfPath(path) : path;
  const [first, last] = [tokens.at(0), tokens.at(-1)];
  if (first === undefined || last === undefined) return null;
  const [tokenIn, target] = command === V3_EXACT_OUT ? [last, first] : [first, last];
  return {
    tokenIn: lowerCase(tokenIn),
    target: target.toLowerCase(),
    recipient: recipientOf(recipient, wallet),
    spend: null,
  };
}

/** Tokens that a call takes from the wallet; `spender` is null if the wallet itself sends them. */
export type TokenSpend = {
  readonly token: Address;
  readonly spender: Address | null;
  readonly amount: bigint;
};

const ADDRESS_DIGITS = 40;
/** A V3 path: token, fee of 3 bytes, token, fee, … */
const HOP_DIGITS = ADDRESS_DIGITS + 6;

/** Values that routers replace by the caller or by themselves, who pass the tokens on later. */
const SELF = new Set([0n, 1n, 2n]);

/** First and last token of a packed V3 path, lower-case; empty if malformed. */
function tokensOfPath(path: Hex): readonly Address[] {
  const digits = path.slice(2).toLowerCase();
  if (digits.length < HOP_DIGITS + ADDRESS_DIGITS || (digits.length - ADDRESS_DIGITS) % HOP_DIGITS !== 0) {
    return [];
  }
  return [`0x${digits.slice(0, ADDRESS_DIGITS)}`, `0x${digits.slice(-ADDRESS_DIGITS)}`];
}

/** The recipient, lower-case, with routers' placeholders for the caller resolved. */
function recipientOf(named: Address, wallet: Address): Address {
  return SELF.has(BigInt(named)) ? wallet : lowerCase(named);
}
