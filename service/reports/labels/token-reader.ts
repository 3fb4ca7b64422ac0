import { type Address, type Hex, hexToString } from "viem";
import { decodeParameters } from "../../chain/bounded-abi.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import { createNodeClient } from "../../chain/node/json-rpc.ts";
import { bytesAnswer } from "../../chain/node/rpc-answers.ts";
import { cached } from "../../db/cached.ts";
import { isLookalikeName, printableName, type TokenFact, type TokenReader } from "./chain-labels.ts";

/** Most tokens that are read for one answer; the others have no entry. */
const MAX_TOKENS = 40;
const MAX_SYMBOL_CHARACTERS = 20;
const MAX_DECIMALS = 77;
/** Answers of the functions are small; a symbol may fill some words. */
const NODE = { retries: 0, maxBytes: 4_096 } as const;
const CACHE = { milliseconds: 24 * 3_600_000, entries: 5_000 } as const;
const SYMBOL = "0x95d89b41";
const DECIMALS = "0x313ce567";
const WORD_CHARACTERS = 66;

/** Reads symbols and decimals of tokens from their contracts and caches them for a day. A failing node leaves them out. */
export function createTokenReader({
  url,
  timeoutMs,
  monotonicMs,
}: {
  readonly url: string;
  /** Deadline of each of the requests, which are sent at once. */
  readonly timeoutMs: number;
  readonly monotonicMs: () => number;
}): TokenReader {
  const client = createNodeClient({ url, timeoutMs, ...NODE });
  const call = (to: Address, data: Hex) => client.ask(bytesAnswer, "eth_call", [{ to, data }, "latest"]);
  const read = cached(
    async (token: Address): Promise<TokenFact> => {
      const [symbol, decimals] = await Promise.all([
        call(token, SYMBOL).then(symbolIn, nullOfRevert),
        call(token, DECIMALS).then(decimalsIn, nullOfRevert),
      ]);
      return { symbol, decimals };
    },
    { ...CACHE, keyOf: (token) => token, monotonicMs },
  );
  return async (tokens) => {
    const asked = [...new Set(tokens)].slice(0, MAX_TOKENS);
    const facts = await Promise.allSettled(asked.map(read));
    return new Map(
      asked.flatMap((token, place): [Address, TokenFact][] => {
        const fact = facts[place];
        return fact?.status === "fulfilled" ? [[token, fact.value]] : [];
      }),
    );
  };
}

/** A contract that reverts has no such function; any other failure is of the node and is not cached. */
function nullOfRevert(error: unknown): null {
  if (error instanceof NodeFailure && error.kind === "reverted") return null;
  throw error;
}

/** A symbol as string or, of old tokens, as bytes32; null if it is empty or resembles another name. */
function symbolIn(data: Hex): string | null {
  const [text] = decodeParameters([{ type: "string" }], data) ?? [
    data.length === WORD_CHARACTERS ? hexToString(data).replaceAll("\0", "") : "",
  ];
  const symbol = [...printableName(text)].slice(0, MAX_SYMBOL_CHARACTERS).join("").trim();
  return symbol === "" || isLookalikeName(symbol) ? null : symbol;
}

function decimalsIn(data: Hex): number | null {
  if (data.length !== WORD_CHARACTERS) return null;
  const decimals = BigInt(data);
  return decimals <= BigInt(MAX_DECIMALS) ? Number(decimals) : null;
}
