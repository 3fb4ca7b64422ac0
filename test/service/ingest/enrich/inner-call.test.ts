import fc from "fast-check";
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  numberToHex,
  parseAbi,
  parseAbiParameters,
} from "viem";
import { expect, test } from "vitest";
import { readBundle } from "../../../../service/ingest/enrich/executions.ts";
import { readInnerCall, readSafeCall } from "../../../../service/ingest/enrich/inner-call.ts";

const TO: Address = `0x${"ab".repeat(20)}`;
const OTHER: Address = `0x${"cd".repeat(20)}`;
const DATA: Hex = "0xa9059cbb11";
const FIRST = { to: TO, value: 7n, input: DATA };

const account = parseAbi([
  "function execute(address to, uint256 value, bytes data)",
  "function execute(bytes32 mode, bytes executionCalldata)",
  "function executeBatch(address[] to, bytes[] data)",
  "function executeBatch(address[] to, uint256[] value, bytes[] data)",
  "struct Call { address to; uint256 value; bytes data; }",
  "function executeBatch(Call[] calls)",
  "function executeUserOp(address to, uint256 value, bytes data, uint8 operation)",
  "function multiSend(bytes transactions)",
  "function upgradeTo(address to)",
]);
const calls = [
  { to: TO, value: 7n, data: DATA },
  { to: OTHER, value: 1n, data: "0x" as Hex },
];
const single: Hex = encodeFunctionData({ abi: account, functionName: "execute", args: [TO, 7n, DATA] });
const mode = (callType: string): Hex => `0x${callType}${"00".repeat(31)}`;
const byMode = (callType: string, execution: Hex) =>
  encodeFunctionData({ abi: account, functionName: "execute", args: [mode(callType), execution] });
const packed = encodePacked(["address", "uint256", "bytes"], [TO, 7n, DATA]);
const batch = encodeAbiParameters(parseAbiParameters("(address to, uint256 value, bytes data)[]"), [calls]);
const sent = (to: Address, value: bigint, data: Hex) =>
  encodePacked(
    ["uint8", "address", "uint256", "uint256", "bytes"],
    [0, to, value, BigInt(data.length / 2 - 1), data],
  );
const multiSend = encodeFunctionData({
  abi: account,
  functionName: "multiSend",
  args: [concatHex([sent(TO, 7n, DATA), sent(OTHER, 1n, "0x")])],
});
const SAFE = parseAbiParameters("address, uint256, bytes, uint8");

test.each<[string, Hex, object | null]>([
  ["execute", single, FIRST],
  [
    "executeBatch without values",
    encodeFunctionData({
      abi: account,
      functionName: "executeBatch",
      args: [
        [TO, OTHER],
        [DATA, "0x"],
      ],
    }),
    { ...FIRST, value: 0n },
  ],
  [
    "executeBatch of three lists",
    encodeFunctionData({
      abi: account,
      functionName: "executeBatch",
      args: [
        [TO, OTHER],
        [7n, 1n],
        [DATA, "0x"],
      ],
    }),
    FIRST,
  ],
  [
    "executeBatch of calls",
    encodeFunctionData({ abi: account, functionName: "executeBatch", args: [calls] }),
    FIRST,
  ],
  ["an empty batch", encodeFunctionData({ abi: account, functionName: "executeBatch", args: [[]] }), null],
  ["ERC-7579 single", byMode("00", packed), FIRST],
  ["ERC-7579 batch", byMode("01", batch), FIRST],
  ["ERC-7579 delegate call", byMode("ff", packed), null],
  ["ERC-7579 cut short", byMode("00", packed.slice(0, 60) as Hex), null],
  [
    "the Safe's module",
    encodeFunctionData({ abi: account, functionName: "executeUserOp", args: [TO, 7n, DATA, 0] }),
    FIRST,
  ],
  ["executeUserOp before the account's own method", concatHex(["0x8dd7712f", single]), FIRST],
  ["another method", encodeFunctionData({ abi: account, functionName: "upgradeTo", args: [TO] }), null],
  ["a method cut short", single.slice(0, 100) as Hex, null],
  ["nothing", "0x", null],
])("%s", (_name, callData, inner) => {
  expect(readInnerCall(callData)).toEqual(inner);
});

test("a Safe's transaction is what it calls, and of a multiSend the first", () => {
  expect(readSafeCall(encodeAbiParameters(SAFE, [TO, 7n, DATA, 0]))).toEqual(FIRST);
  expect(readSafeCall(encodeAbiParameters(SAFE, [OTHER, 0n, multiSend, 1]))).toEqual(FIRST);
  expect(readSafeCall(encodeAbiParameters(SAFE, [OTHER, 0n, multiSend, 0]))).toMatchObject({
    to: OTHER,
  });
  expect(readSafeCall("0x1234")).toBeNull();
});

const operation = { sender: OTHER, nonce: 4n, initCode: "0x", callData: single, signature: "0x" } as const;

test("operations of an entry point 0.6 are read with their limits", () => {
  const abi = parseAbi([
    "struct Op { address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit; uint256 verificationGasLimit; uint256 preVerificationGas; uint256 maxFeePerGas; uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature; }",
    "function handleOps(Op[] ops, address beneficiary)",
  ]);
  const op = {
    ...operation,
    ...{ callGasLimit: 100n, verificationGasLimit: 20n, preVerificationGas: 3n },
    ...{ maxFeePerGas: 9n, maxPriorityFeePerGas: 9n, paymasterAndData: "0x" as Hex },
  };
  const input = encodeFunctionData({ abi, functionName: "handleOps", args: [[op], TO] });
  expect(readBundle(input)).toEqual([{ sender: OTHER, nonce: 4n, callData: single, gasLimit: 123n }]);
});

test("operations of an entry point 0.7 are read with those of their paymaster", () => {
  const abi = parseAbi([
    "struct Op { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }",
    "function handleOps(Op[] ops, address beneficiary)",
  ]);
  const op = (paymasterAndData: Hex) => ({
    ...operation,
    accountGasLimits: numberToHex((20n << 128n) | 100n, { size: 32 }),
    preVerificationGas: 3n,
    gasFees: numberToHex(0n, { size: 32 }),
    paymasterAndData,
  });
  const paid = encodePacked(["address", "uint128", "uint128", "bytes"], [TO, 1_000n, 2_000n, "0xff"]);
  const input = encodeFunctionData({ abi, functionName: "handleOps", args: [[op("0x"), op(paid)], TO] });
  expect(readBundle(input)?.map(({ gasLimit }) => gasLimit)).toEqual([123n, 3_123n]);
  expect(readBundle(input.slice(0, 200) as Hex)).toBeNull();
});

const word = (value: number): Hex => numberToHex(value, { size: 32 });
/** A list as long as its elements are, each of which is a pointer into the list and the length of another. */
const bomb = (elements: number): Hex =>
  concatHex([word(elements), ...Array<Hex>(elements + 4).fill(word(16 * elements))]);

test.each([1_300, 3_000])("lists whose %i elements share their bytes are not decoded", (elements) => {
  const list = bomb(elements);
  const one = concatHex([word(1), word(1)]);
  const byMode = encodeAbiParameters(parseAbiParameters("bytes32, bytes"), [
    mode("01"),
    concatHex([word(32), list]),
  ]);
  const batches: readonly Hex[] = [
    concatHex(["0x18dfb3c7", word(64), word(128), one, list]),
    concatHex(["0x47e1da2a", word(96), word(96), word(160), one, list]),
    concatHex(["0x34fcd5be", word(32), list]),
    concatHex(["0xe9ae5c53", byMode]),
  ];
  expect(batches.map(readInnerCall)).toEqual(batches.map(() => null));
  const bundles: readonly Hex[] = [
    concatHex(["0x1fad948c", word(64), word(0), list]),
    concatHex(["0x765e827f", word(64), word(0), list]),
  ];
  expect(bundles.map(readBundle)).toEqual([null, null]);
});

test("never throws on calldata of strangers", () => {
  const selectors = [
    "0xb61d27f6",
    "0x34fcd5be",
    "0xe9ae5c53",
    "0x1fad948c",
    "0x765e827f",
    "0x7bb37428",
    "0x8dd7712f",
  ];
  const calldata = fc
    .tuple(fc.constantFrom(...selectors), fc.uint8Array({ maxLength: 300 }))
    .map(([selector, bytes]) => `${selector}${Buffer.from(bytes).toString("hex")}` as Hex);
  fc.assert(
    fc.property(calldata, (input) => {
      readInnerCall(input);
      readSafeCall(input);
      readBundle(input);
    }),
  );
});
