import { setImmediate } from "node:timers/promises";
import type { Address } from "viem";
import { readIntent } from "./call-intent.ts";
import { READ_CHARACTERS, type SentCall } from "./failed-calls.ts";
import type { CallIntent } from "./recovery-types.ts";

/** A call with what it is meant to bring about. */
export type ReadCall<Call> = { readonly call: Call; readonly intent: CallIntent };

type Called = Pick<SentCall, "to" | "input" | "value">;

/** Characters of calldata that one turn of the event loop works on: as many as are read of one call, in some milliseconds. */
const TURN_CHARACTERS = READ_CHARACTERS;
/** What a call without calldata counts as. */
const LEAST_CHARACTERS = 256;

/** Reads what calls are meant to bring about, and lets other work have its turn in between. */
export async function readIntents<Call extends Called>(
  calls: readonly Call[],
  wallet: Address,
): Promise<readonly ReadCall<Call>[]> {
  const read: ReadCall<Call>[] = [];
  await inTurns(
    calls.map((call) => ({ call })),
    ({ call }) => read.push({ call, intent: readIntent(call, wallet) }),
  );
  return read;
}

/** Works on one item after the other, and lets other work have its turn after each bounded part of their calldata. */
export async function inTurns<Item extends { readonly call: Pick<Called, "input"> }>(
  items: readonly Item[],
  work: (item: Item) => unknown,
): Promise<void> {
  let characters = 0;
  for (const item of items) {
    const size = Math.max(LEAST_CHARACTERS, Math.min(item.call.input.length, READ_CHARACTERS));
    if (characters + size > TURN_CHARACTERS) {
      await setImmediate();
      characters = 0;
    }
    work(item);
    characters += size;
  }
}
