import type { Address } from "viem";
import { z } from "zod";
import type { Position } from "../../reports/network/counterparties.ts";
import type { PinnedBlock } from "../../reports/network/wallet-network-dealings.ts";
import { ValidationFailed } from "../validation/validation-failed.ts";

/** Where a list of a wallet's counterparties goes on, the block that all its pages are as of, and which list it is. */
export type Cursor = {
  readonly wallet: Address;
  readonly block: PinnedBlock;
  readonly after: Position;
  /** See `listDigest`. */
  readonly digest: string;
};

const address = z.custom<Address>((value) => typeof value === "string" && /^0x[0-9a-f]{40}$/.test(value));
const hash = z.custom<PinnedBlock["blockHash"]>(
  (value) => typeof value === "string" && /^0x[0-9a-f]{64}$/.test(value),
);

const whole = z.int().nonnegative();
const digestText = z.string().regex(/^[0-9a-f]{16}$/);

/** Version, wallet, block number, block hash, own calls to the last entry, what it brought, its address, digest of the list. */
const fields = z.tuple([z.literal(2), address, whole, hash, whole, whole, address, digestText]);

const MAX_CHARACTERS = 500;

/** The cursor as answers carry it: unsigned, since all that it can ask for is another page of what is paid for. */
export function encodeCursor({ wallet, block, after, digest }: Cursor): string {
  const { calls, broughtMicroUsd, address } = after;
  const parts = [2, wallet, block.blockNumber, block.blockHash, calls, broughtMicroUsd, address, digest];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** A cursor as a parameter of a request. */
export const cursorSchema = z
  .string()
  .max(MAX_CHARACTERS)
  .transform((text, context): Cursor => {
    const parsed = fields.safeParse(decoded(text));
    if (!parsed.success) {
      context.addIssue({
        code: "custom",
        message: "expected the next_cursor of an earlier answer",
        input: text,
      });
      return z.NEVER;
    }
    const [, wallet, blockNumber, blockHash, calls, broughtMicroUsd, last, digest] = parsed.data;
    const after = { calls, broughtMicroUsd, address: last };
    return { wallet, block: { blockNumber, blockHash }, after, digest };
  });

/** The 422 of a cursor that this request cannot go on from. */
export function cursorRefused(cursor: Cursor, error: string): ValidationFailed {
  return new ValidationFailed([
    {
      type: "value_error",
      loc: ["query", "cursor"],
      msg: `Value error, ${error}`,
      input: encodeCursor(cursor),
      ctx: { error },
    },
  ]);
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
