import fc from "fast-check";
import {
  type AbiParameter,
  concatHex,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeErrorResult,
  encodeEventTopics,
  type Hex,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  size,
} from "viem";
import { describe, expect, test } from "vitest";
import {
  decodeError,
  decodeEvent,
  decodeParameters,
  MAX_DECODED_BYTES,
} from "../../../service/chain/bounded-abi.ts";

const WORD_BYTES = 32;
const word = (value: number | bigint): Hex => numberToHex(value, { size: WORD_BYTES });

type Typed = { readonly parameter: AbiParameter; readonly value: fc.Arbitrary<unknown> };

const hexOf = (bounds: { minLength: number; maxLength: number }) =>
  fc.uint8Array(bounds).map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);
const typed = (type: string, value: fc.Arbitrary<unknown>): Typed => ({
  parameter: { name: "one", type },
  value,
});
const elementary = fc.oneof(
  fc.constant(typed("address", hexOf({ minLength: 20, maxLength: 20 }))),
  fc.constant(typed("bool", fc.boolean())),
  fc.constant(typed("bytes", hexOf({ minLength: 0, maxLength: 70 }))),
  fc.constant(typed("string", fc.string({ maxLength: 70, unit: "grapheme" }))),
  fc
    .integer({ min: 1, max: 32 })
    .map((bytes) => typed(`bytes${bytes}`, hexOf({ minLength: bytes, maxLength: bytes }))),
  fc.integer({ min: 7, max: 32 }).map((bytes) => typed(`uint${8 * bytes}`, fc.bigInt(0n, (1n << 56n) - 1n))),
  fc
    .integer({ min: 7, max: 32 })
    .map((bytes) => typed(`int${8 * bytes}`, fc.bigInt(-(1n << 55n), 1n << 54n))),
);

function arrayOf({ parameter, value }: Typed, length: number | null): Typed {
  const type = `${parameter.type}[${length ?? ""}]`;
  const bounds = length === null ? { maxLength: 4 } : { minLength: length, maxLength: length };
  return { parameter: { ...parameter, type }, value: fc.array(value, bounds) };
}

function tupleOf(members: readonly Typed[]): Typed {
  const components = members.map(({ parameter }, place) => ({ ...parameter, name: `m${place}` }));
  const entries = members.map(({ value }, place) => [`m${place}`, value] as const);
  return {
    parameter: { name: "one", type: "tuple", components },
    value: fc.record(Object.fromEntries(entries)),
  };
}

const { any } = fc.letrec<{ any: Typed }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    elementary,
    tie("any").map((item) => arrayOf(item, null)),
    fc.tuple(tie("any"), fc.integer({ min: 1, max: 3 })).map(([item, length]) => arrayOf(item, length)),
    fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map(tupleOf),
  ),
}));

/** Parameters, values of them, and their encoding. */
const encoded = fc.array(any, { minLength: 1, maxLength: 3 }).chain((all) => {
  const parameters = all.map(({ parameter }) => parameter);
  return fc
    .tuple(...all.map(({ value }) => value))
    .map((values) => ({ parameters, data: encodeAbiParameters(parameters, values) }));
});

/** Encodings of which some words are others, most of them offsets and lengths that stay within the data. */
const mutated = encoded.chain(({ parameters, data }) => {
  const words = size(data) / WORD_BYTES;
  const change = fc.tuple(
    fc.nat(words - 1),
    fc.oneof(
      fc.nat(words).map((place) => BigInt(place * WORD_BYTES)),
      fc.bigInt(0n, 100n),
      fc.bigInt(0n, (1n << 256n) - 1n),
    ),
  );
  return fc.array(change, { minLength: 1, maxLength: 6 }).map((changes) => ({
    parameters,
    data: changes.reduce<Hex>(
      (all, [place, value]) =>
        `0x${all.slice(2, 2 + 64 * place)}${word(value).slice(2)}${all.slice(66 + 64 * place)}`,
      data,
    ),
  }));
});

/** Bytes that a decoded value stands for, at least. */
function bytesOf(value: unknown): number {
  if (typeof value === "string")
    return value.startsWith("0x") ? Math.floor(value.length / 2) - 1 : value.length;
  if (typeof value !== "object" || value === null) return WORD_BYTES;
  return Object.values(value).reduce<number>((sum, part) => sum + bytesOf(part), 0);
}

function decodedByViem(parameters: readonly AbiParameter[], data: Hex): unknown {
  return decodeAbiParameters(parameters, data);
}

describe("decoding parameters", () => {
  test("equals viem's for what an encoder wrote, whatever follows it", () => {
    fc.assert(
      fc.property(encoded, hexOf({ minLength: 0, maxLength: 40 }), ({ parameters, data }, more) => {
        const expected = decodedByViem(parameters, data);
        expect(decodeParameters(parameters, data)).toEqual(expected);
        expect(decodeParameters(parameters, concatHex([data, more]))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  test("of altered data is null, or equals viem's and is no larger than the data", () => {
    let decodedOnes = 0;
    fc.assert(
      fc.property(mutated, ({ parameters, data }) => {
        const decoded = decodeParameters(parameters, data);
        if (decoded === null) return;
        decodedOnes += 1;
        expect(decoded).toEqual(decodedByViem(parameters, data));
        expect(bytesOf(decoded)).toBeLessThanOrEqual(size(data));
      }),
      { numRuns: 2_000 },
    );
    expect(decodedOnes).toBeGreaterThan(100);
  });

  test("of random bytes never throws", () => {
    fc.assert(
      fc.property(
        encoded,
        fc.string({ maxLength: 300 }),
        hexOf({ minLength: 0, maxLength: 300 }),
        (one, text, hex) => {
          decodeParameters(one.parameters, text as Hex);
          const decoded = decodeParameters(one.parameters, hex);
          if (decoded !== null) expect(bytesOf(decoded)).toBeLessThanOrEqual(size(hex));
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([
    ["bytes[]", 1],
    ["string[]", 1],
    ["uint256[][]", 1],
    ["bytes[][]", 1],
    ["(address to, uint256 value, bytes data)[]", 3],
    ["(uint256 one, bytes[] more)[]", 2],
  ])("of %s whose pointers all lead to one another is null", (type, headWords) => {
    const parameters = parseAbiParameters(type);
    for (const length of [2, 64, 4_000]) {
      // Each element's length or offset is the same word, which leads back into the array.
      const data = concatHex([word(32), word(length), ...Array<Hex>(length + headWords).fill(word(32))]);
      expect(decodeParameters(parameters, data)).toBeNull();
    }
  });

  test("of elements that share their bytes is null, of such that do not is not", () => {
    const parameters = parseAbiParameters("bytes[]");
    const [item, spare] = [concatHex([word(32), word(7)]), "00".repeat(31)];
    const of = (offsets: readonly number[], ...items: readonly Hex[]) =>
      concatHex([word(32), word(offsets.length), ...offsets.map(word), ...items]);
    expect(decodeParameters(parameters, of([64, 128], item, item))).toEqual([[word(7), word(7)]]);
    expect(decodeParameters(parameters, of([64, 64], item))).toBeNull();
    expect(decodeParameters(parameters, concatHex([of([64, 64], item), `0x${spare}`]))).toBeNull();
  });

  test("of an array as long as a word can count, of elements without bytes, is null", () => {
    const parameters = [{ name: "one", type: "uint256[0][]" }];
    expect(decodeParameters(parameters, concatHex([word(32), word((1n << 32n) - 1n)]))).toBeNull();
  });

  test("is null for more than is ever decoded", () => {
    const parameters = parseAbiParameters("uint256");
    const most = concatHex([word(7), `0x${"00".repeat(MAX_DECODED_BYTES - WORD_BYTES)}`]);
    expect(decodeParameters(parameters, most)).toEqual([7n]);
    expect(decodeParameters(parameters, concatHex([most, "0x00"]))).toBeNull();
  });
});

const abi = parseAbi([
  "event Told(uint256 indexed id, string[] texts)",
  "event Bare(address indexed who)",
  "error Refused(bytes[] parts)",
  "function told()",
]);

describe("decoding logs", () => {
  const topics = encodeEventTopics({ abi, eventName: "Told", args: { id: 7n } }) as Hex[];
  const data = encodeAbiParameters([{ type: "string[]" }], [["one", "two"]]);

  test("answers the event of the first topic", () => {
    expect(decodeEvent(abi, { topics, data })).toEqual({
      eventName: "Told",
      args: { id: 7n, texts: ["one", "two"] },
    });
    const who = `0x${"ab".repeat(20)}` as const;
    const bare = encodeEventTopics({ abi, eventName: "Bare", args: { who } }) as Hex[];
    expect(decodeEvent(abi, { topics: bare, data: "0x" })).toMatchObject({ eventName: "Bare" });
  });

  test.each<{ what: string; log: { topics: readonly Hex[]; data: Hex } }>([
    { what: "without topics", log: { topics: [], data } },
    { what: "of another event", log: { topics: [word(1)], data } },
    { what: "without its indexed part", log: { topics: topics.slice(0, 1), data } },
    { what: "without data", log: { topics, data: "0x" } },
    {
      what: "whose texts share their bytes",
      log: { topics, data: concatHex([word(32), word(2), word(32), word(32)]) },
    },
  ])("is null for one $what", ({ log }) => {
    expect(decodeEvent(abi, log)).toBeNull();
  });
});

describe("decoding reverts", () => {
  test("answers errors of the ABI and of Solidity", () => {
    const refused = encodeErrorResult({ abi, errorName: "Refused", args: [["0x01", "0x"]] });
    expect(decodeError(abi, refused)).toMatchObject({ errorName: "Refused", args: [["0x01", "0x"]] });
    const plain = encodeErrorResult({ abi: parseAbi(["error Error(string)"]), args: ["no"] });
    expect(decodeError(abi, plain)).toMatchObject({ errorName: "Error", args: ["no"] });
  });

  test.each<{ what: string; data: Hex }>([
    { what: "nothing", data: "0x" },
    { what: "another error", data: "0x01020304" },
    { what: "no hexadecimal digits", data: "0xzz" },
    {
      what: "parts that share their bytes",
      data: concatHex([
        encodeErrorResult({ abi, errorName: "Refused", args: [[]] }).slice(0, 10) as Hex,
        ...[word(32), word(3), word(32), word(32), word(32)],
      ]),
    },
  ])("is null for $what", ({ data }) => {
    expect(decodeError(abi, data)).toBeNull();
  });
});
