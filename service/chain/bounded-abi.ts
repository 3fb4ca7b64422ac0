import {
  type Abi,
  type AbiParameter,
  type DecodeAbiParametersReturnType,
  type DecodeErrorResultReturnType,
  type DecodeEventLogReturnType,
  decodeAbiParameters,
  decodeErrorResult,
  decodeEventLog,
  type Hex,
  hexToBytes,
  parseAbi,
  toEventSelector,
  toFunctionSelector,
} from "viem";
import { formatAbiItem } from "viem/utils";

/**
 * Most bytes that are decoded at once. No transaction can bring or store more than this; viem's decoding takes up to 60 times
 * as much memory.
 */
export const MAX_DECODED_BYTES = 1_048_576;

/**
 * Decodes ABI parameters that a third party wrote. Null for malformed data, for more than MAX_DECODED_BYTES, and where the
 * parts of the value cover more bytes in sum than the data has, since they then share bytes. Time and memory are proportional
 * to the data; the types alone set how deep a value is nested. Bytes after the value are allowed.
 */
export function decodeParameters<const Parameters extends readonly AbiParameter[]>(
  parameters: Parameters,
  data: Hex,
): DecodeAbiParametersReturnType<Parameters> | null {
  return orNull(() => decodeAbiParameters(parameters, boundedBytes(parameters, data)));
}

/** Decodes a log by the event of its first topic, within the bounds of `decodeParameters`; null also for an event of another ABI. */
export function decodeEvent<const Events extends Abi>(
  abi: Events,
  { topics, data }: { readonly topics: readonly Hex[]; readonly data: Hex },
): DecodeEventLogReturnType<Events> | null {
  return orNull(() => {
    const [selector, ...indexed] = topics;
    const event = abi.find((item) => item.type === "event" && toEventSelector(item) === selector);
    if (selector === undefined || event?.type !== "event") return null;
    boundedBytes(
      event.inputs.filter((input) => input.indexed !== true),
      data,
    );
    return decodeEventLog({ abi, topics: [selector, ...indexed], data }) as DecodeEventLogReturnType<Events>;
  });
}

const SOLIDITY_ERRORS = parseAbi(["error Error(string message)", "error Panic(uint256 code)"]);
const SELECTOR_CHARACTERS = 10;

/** Decodes what a call reverted with, within the bounds of `decodeParameters`; null also for an error that neither the ABI nor Solidity has. */
export function decodeError<const Errors extends Abi>(
  abi: Errors,
  data: Hex,
): DecodeErrorResultReturnType<Errors> | null {
  return orNull(() => {
    const selector = data.slice(0, SELECTOR_CHARACTERS);
    const known: Abi = [...abi, ...SOLIDITY_ERRORS];
    const error = known.find(
      (item) => item.type === "error" && toFunctionSelector(formatAbiItem(item)) === selector,
    );
    if (error?.type !== "error") return null;
    boundedBytes(error.inputs, `0x${data.slice(SELECTOR_CHARACTERS)}`);
    return decodeErrorResult({ abi, data });
  });
}

/** Third parties choose what is decoded: data that its types do not fit says nothing. */
function orNull<Value>(decode: () => Value): Value | null {
  try {
    return decode();
  } catch {
    return null;
  }
}

/** The bytes of the data, once they are found to hold the parameters within the bounds; throws where they do not. */
function boundedBytes(parameters: readonly AbiParameter[], data: Hex): Uint8Array {
  const size = (data.length - 2) / 2;
  if (size > MAX_DECODED_BYTES)
    throw new RangeError(`expected at most ${MAX_DECODED_BYTES} bytes, got ${size}`);
  const bytes = hexToBytes(data);
  const walk = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), left: bytes.length };
  coverAll(walk, parameters.map(shapeOf), 0);
  return bytes;
}

/** Layout of a value's bytes. A value in place has a fixed size, any other a pointer in its place. */
type Shape =
  | { readonly kind: "in_place"; readonly size: number }
  | { readonly kind: "bytes" }
  /** A tuple, or an array of a fixed length. */
  | { readonly kind: "parts"; readonly parts: readonly Shape[] }
  | { readonly kind: "array"; readonly item: Shape };

const WORD_BYTES = 32;
const ARRAY = /^(?<type>.+)\[(?<length>\d*)\]$/;

function shapeOf(parameter: AbiParameter): Shape {
  const array = ARRAY.exec(parameter.type)?.groups;
  if (array !== undefined) {
    const item = shapeOf({ ...parameter, type: array.type ?? "" });
    if (array.length === "") return { kind: "array", item };
    return partsOf(Array.from({ length: Number(array.length) }, () => item));
  }
  if (parameter.type === "bytes" || parameter.type === "string") return { kind: "bytes" };
  if ("components" in parameter) return partsOf(parameter.components.map(shapeOf));
  return { kind: "in_place", size: WORD_BYTES };
}

function partsOf(parts: readonly Shape[]): Shape {
  if (parts.some(({ kind }) => kind !== "in_place")) return { kind: "parts", parts };
  return { kind: "in_place", size: parts.reduce((sum, part) => sum + headOf(part), 0) };
}

/** Bytes in the value's own place. */
function headOf(shape: Shape): number {
  return shape.kind === "in_place" ? shape.size : WORD_BYTES;
}

/** The data, and how many bytes the rest of the value may still cover. */
type Walk = { readonly view: DataView; left: number };

/** Covers values whose heads follow one another from `base` on, where their pointers count from. */
function coverAll(walk: Walk, shapes: readonly Shape[], base: number): void {
  let at = base;
  for (const shape of shapes) {
    cover(walk, shape, { at, base });
    at += headOf(shape);
  }
}

/** Covers the value whose head is at `at`; throws where it leaves the data, or covers more than is left. */
function cover(walk: Walk, shape: Shape, { at, base }: { readonly at: number; readonly base: number }): void {
  spend(walk, at, headOf(shape));
  if (shape.kind === "in_place") return;
  const start = base + uintAt(walk, at);
  switch (shape.kind) {
    case "parts":
      coverAll(walk, shape.parts, start);
      break;
    case "bytes":
      spend(walk, start + WORD_BYTES, lengthAt(walk, start));
      break;
    case "array":
      coverItems(walk, shape.item, { first: start + WORD_BYTES, length: lengthAt(walk, start) });
      break;
  }
}

function coverItems(
  walk: Walk,
  item: Shape,
  { first, length }: { readonly first: number; readonly length: number },
): void {
  // Elements without any bytes could be as many as a word can count.
  if (headOf(item) === 0) throw new RangeError("expected elements with bytes of their own");
  if (item.kind === "in_place") {
    spend(walk, first, length * item.size);
    return;
  }
  for (let place = 0; place < length; place += 1)
    cover(walk, item, { at: first + place * WORD_BYTES, base: first });
}

function lengthAt(walk: Walk, start: number): number {
  spend(walk, start, WORD_BYTES);
  return uintAt(walk, start);
}

function spend(walk: Walk, at: number, bytes: number): void {
  walk.left -= bytes;
  if (walk.left < 0) throw new RangeError("the parts of the value cover more bytes than there are");
  if (at + bytes > walk.view.byteLength) throw new RangeError(`expected ${bytes} bytes at ${at}`);
}

/** The word at a place that was covered, as an offset or a length; throws where it is larger than any of either. */
function uintAt({ view }: Walk, at: number): number {
  for (let place = at; place < at + WORD_BYTES - 4; place += 4)
    if (view.getUint32(place) !== 0) throw new RangeError(`expected an offset or a length at ${at}`);
  return view.getUint32(at + WORD_BYTES - 4);
}
