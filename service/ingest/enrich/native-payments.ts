import type { Address, Hex } from "viem";
import { z } from "zod";
import type { InnerCall } from "./inner-call.ts";

/** Native coin that a successful execution was asked to send, and how to find that execution in a trace. */
export type AskedPayment = {
  readonly account: Address;
  readonly call: InnerCall;
  /** By an entry point: how it calls the account, which such call of the bundle it is, and of how many. Null: the transaction itself. */
  readonly entry: {
    readonly by: Address;
    /** Calldata of that call, or its start. */
    readonly input: Hex;
    readonly isWhole: boolean;
    readonly turn: number;
    readonly turns: number;
  } | null;
};

/** A call within a transaction, as callTracer reports it; the frames of a transaction are in the order in which they began. */
export type TraceFrame = {
  readonly isCall: boolean;
  readonly from: Address;
  readonly to: Address | null;
  readonly value: bigint;
  readonly input: Hex;
  /** Whether neither it nor a call around it was reverted. */
  readonly isEffective: boolean;
  /** Number of the first frame after all that it called. */
  readonly end: number;
};

/** Far more than a bundle of hundreds of operations makes; a trace with more is not read. */
const MAX_FRAMES = 50_000;
/** Of the EVM. */
const MAX_DEPTH = 1_024;

const hex = z.string().regex(/^0x[0-9a-fA-F]*$/);
const rawFrame = z.object({
  type: z.string(),
  from: z.string(),
  to: z.string().nullish(),
  value: z
    .string()
    .regex(/^0x[0-9a-fA-F]{1,64}$/)
    .nullish(),
  input: hex.nullish(),
  error: z.string().nullish(),
  calls: z.array(z.unknown()).nullish(),
});

/** The frames of a trace; null if it has more than are read, or another form. */
export function readFrames(trace: unknown): readonly TraceFrame[] | null {
  const frames: { -readonly [Member in keyof TraceFrame]: TraceFrame[Member] }[] = [];
  const open: { readonly place: number; readonly calls: readonly unknown[]; next: number }[] = [];
  const enter = (value: unknown): boolean => {
    const read = rawFrame.safeParse(value);
    if (!read.success || frames.length === MAX_FRAMES || open.length > MAX_DEPTH) return false;
    const { type, from, to, value: sent, input, error, calls } = read.data;
    const around = open.at(-1);
    const isEffective =
      (error ?? "") === "" && (around === undefined || frames[around.place]?.isEffective === true);
    open.push({ place: frames.length, calls: calls ?? [], next: 0 });
    frames.push({
      isCall: type === "CALL",
      from: from.toLowerCase() as Address,
      to: (to ?? null) === null ? null : (String(to).toLowerCase() as Address),
      value: BigInt(sent ?? 0),
      input: (input ?? "0x").toLowerCase() as Hex,
      isEffective,
      end: frames.length + 1,
    });
    return true;
  };
  if (!enter(trace)) return null;
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top.next < top.calls.length) {
      if (!enter(top.calls[top.next++])) return null;
      continue;
    }
    open.pop();
    const done = frames[top.place];
    if (done !== undefined) done.end = frames.length;
  }
  return frames;
}

/**
 * Wei that each execution sent as it was asked to, 0 if the trace shows that it did not; null where the execution is not found.
 * Each call of the trace counts for one execution.
 */
export function findPayments(
  frames: readonly TraceFrame[],
  asked: readonly AskedPayment[],
): readonly (bigint | null)[] {
  const calls = Map.groupBy(
    frames.map((frame, place) => ({ ...frame, place })).filter(({ isCall }) => isCall),
    ({ from, to }) => `${from} ${to}`,
  );
  const counted = new Set<number>();
  return asked.map(({ account, call, entry }) => {
    const entered = entry === null ? [] : (calls.get(`${entry.by} ${account}`) ?? []);
    const own = entered.filter(({ input }) =>
      entry?.isWhole === true ? input === entry.input : input.startsWith(entry?.input ?? "0x"),
    );
    // An operation that ended before its call would shift all after it.
    if (entry !== null && own.length !== entry.turns) return null;
    const within = entry === null ? { ...frames[0], place: 0 } : own[entry.turn];
    if (within?.to !== account || within.isEffective !== true || within.end === undefined) return null;
    const { place: start, end } = within;
    const paid = calls
      .get(`${account} ${call.to}`)
      ?.find(
        ({ place, value, input, isEffective }) =>
          place > start &&
          place < end &&
          isEffective &&
          value === call.value &&
          input === call.input &&
          !counted.has(place),
      );
    if (paid === undefined) return 0n;
    counted.add(paid.place);
    return paid.value;
  });
}
