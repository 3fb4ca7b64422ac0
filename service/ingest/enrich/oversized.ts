import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { EnrichFailure } from "../../chain/node/failure.ts";

/** Whether a request failed since no answer has room for what it asks: it is to be asked for in parts, or left out. */
export type IsOversized = (error: unknown) => Promise<boolean>;

export type Asked = {
  /** Any block of the range. */
  readonly block: number;
  /** Whether the range, of one block, timed out so often that what times out again is taken as too large. */
  readonly isStuck: boolean;
};

/**
 * Tells answers that are too large from trouble of the node: a timeout counts only in a range that is stuck, and either only
 * while the node answers what is small, since limits of rate are told in the same words. Throws an EnrichFailure when it does not.
 */
export function createOversizeTest(
  client: Pick<ChainReader, "header">,
  { block, isStuck }: Asked,
): IsOversized {
  return async (error) => {
    if (!(error instanceof EnrichFailure)) return false;
    if (error.kind !== "too_many_results" && !(error.kind === "timeout" && isStuck)) return false;
    await client.header(block);
    return true;
  };
}

/** What a request answers; null where no answer has room for it. */
export async function orOversized<Answer>(
  isOversized: IsOversized,
  ask: () => Promise<Answer>,
): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    if (await isOversized(error)) return null;
    throw error;
  }
}
