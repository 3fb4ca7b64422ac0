import { type Address, type Hex, parseAbiParameters, size, slice } from "viem";
import { decodeParameters } from "../../chain/bounded-abi.ts";
import { lowerCase } from "../../db/columns.ts";

/** The first call that a smart account was asked to make. */
export type InnerCall = { readonly to: Address; readonly value: bigint; readonly input: Hex };

const SINGLE = parseAbiParameters("address, uint256, bytes");
const TARGETS = parseAbiParameters("address[], bytes[]");
const TARGETS_VALUES = parseAbiParameters("address[], uint256[], bytes[]");
const CALLS = parseAbiParameters("(address to, uint256 value, bytes data)[]");
const MODE = parseAbiParameters("bytes32, bytes");
const BYTES = parseAbiParameters("bytes");
const SAFE = parseAbiParameters("address, uint256, bytes, uint8");

const SELECTOR_BYTES = 4;
const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;

/** Methods by which common accounts execute, by selector. */
const METHODS: Readonly<Record<Hex, (args: Hex) => InnerCall | null>> = {
  // execute(address,uint256,bytes)
  "0xb61d27f6": readSingle,
  // executeUserOp and executeUserOpWithErrorString(address,uint256,bytes,uint8): the Safe's ERC-4337 module
  "0x7bb37428": readSafeCall,
  "0x541d63c8": readSafeCall,
  // executeBatch(address[],bytes[])
  "0x18dfb3c7": (args) => {
    const [[to], [data]] = decodeParameters(TARGETS, args) ?? [[], []];
    return innerCall(to, 0n, data);
  },
  // executeBatch(address[],uint256[],bytes[]); without values, none is sent
  "0x47e1da2a": (args) => {
    const [[to], [value = 0n], [data]] = decodeParameters(TARGETS_VALUES, args) ?? [[], [], []];
    return innerCall(to, value, data);
  },
  // executeBatch((address,uint256,bytes)[])
  "0x34fcd5be": readCalls,
  // execute(bytes32,bytes): ERC-7579
  "0xe9ae5c53": readByMode,
};

/** executeUserOp(PackedUserOperation,bytes32): the account finds its own call behind the selector. */
export const EXECUTE_USER_OP = "0x8dd7712f";
/** multiSend(bytes): what a Safe runs as its own code to make several calls. */
const MULTI_SEND = "0x8d80ff0a";
const SINGLE_CALL_TYPE = "0x00";
const BATCH_CALL_TYPE = "0x01";

/** The first call that calldata of a smart account's own method asks for; null for other methods and malformed calldata. */
export function readInnerCall(callData: Hex): InnerCall | null {
  const selector = callData.slice(0, 2 + 2 * SELECTOR_BYTES);
  if (selector === EXECUTE_USER_OP) return readMethod(after(callData, SELECTOR_BYTES));
  return readMethod(callData);
}

function readMethod(callData: Hex): InnerCall | null {
  const read = METHODS[callData.slice(0, 2 + 2 * SELECTOR_BYTES) as Hex];
  return read === undefined ? null : read(after(callData, SELECTOR_BYTES));
}

function readSingle(args: Hex): InnerCall | null {
  const call = decodeParameters(SINGLE, args);
  return call === null ? null : innerCall(...call);
}

function readCalls(args: Hex): InnerCall | null {
  const [first] = decodeParameters(CALLS, args)?.[0] ?? [];
  return first === undefined ? null : innerCall(first.to, first.value, first.data);
}

/** The call of a Safe's execTransaction, of whose arguments these are the calldata; of a multiSend the first. Null when malformed. */
export function readSafeCall(args: Hex): InnerCall | null {
  const call = decodeParameters(SAFE, args);
  if (call === null) return null;
  const [to, value, data, operation] = call;
  const runsAsOwnCode = operation === 1;
  if (!runsAsOwnCode || !data.startsWith(MULTI_SEND)) return innerCall(to, value, data);
  const [packed] = decodeParameters(BYTES, after(data, SELECTOR_BYTES)) ?? [];
  return packed === undefined ? null : readPacked(after(packed, 1), WORD_BYTES);
}

/** Batches of ERC-7579 are coded as others are, single calls packed; delegate calls have no target of their own. */
function readByMode(args: Hex): InnerCall | null {
  const call = decodeParameters(MODE, args);
  if (call === null) return null;
  const [mode, execution] = call;
  const callType = slice(mode, 0, 1);
  if (callType === BATCH_CALL_TYPE) return readCalls(execution);
  return callType === SINGLE_CALL_TYPE ? readPacked(execution, 0) : null;
}

/** Target, value and data without padding; in a multiSend the data's length, in so many bytes, comes before it. */
function readPacked(packed: Hex, lengthBytes: number): InnerCall | null {
  const head = ADDRESS_BYTES + WORD_BYTES;
  if (size(packed) < head + lengthBytes) return null;
  const to = slice(packed, 0, ADDRESS_BYTES);
  const value = BigInt(slice(packed, ADDRESS_BYTES, head));
  const rest = after(packed, head + lengthBytes);
  if (lengthBytes === 0) return innerCall(to, value, rest);
  const length = BigInt(slice(packed, head, head + lengthBytes));
  if (length > BigInt(size(rest))) return null;
  return innerCall(to, value, rest.slice(0, 2 + 2 * Number(length)) as Hex);
}

function innerCall(to: Address | undefined, value: bigint, data: Hex | undefined): InnerCall | null {
  if (to === undefined || data === undefined) return null;
  return { to: lowerCase(to), value, input: lowerCase(data) };
}

/** Returns the bytes after the first ones; empty without any more. */
function after(data: Hex, bytes: number): Hex {
  return `0x${data.slice(2 + 2 * bytes)}`;
}
