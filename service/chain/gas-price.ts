import { type Address, type PublicClient, parseAbi } from "viem";

export type GasPrice = {
  /** Millionths of a US dollar, rounded up, that a transaction of so much gas costs; throws a viem error when the node does not answer. */
  microUsd(gas: bigint): Promise<bigint>;
};

/** Callers come by the hundred, blocks every second or two. */
const FEES_CACHED_MS = 2_000;
const COIN_CACHED_MS = 60_000;
/** Feeds answer anew once a day at least; an older answer is ignored. */
const MAX_ANSWER_AGE_SECONDS = 172_800n;
const MICRO = 1_000_000n;
const FEED = parseAbi([
  "function decimals() view returns (uint8)",
  "function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);
/** Of the OP stack, at the same address on each of its chains. */
const L1_ORACLE = {
  address: "0x420000000000000000000000000000000000000F",
  abi: parseAbi(["function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)"]),
} as const;
/** Bytes of a settlement or a signed verdict, rounded up: rollups charge for them on their L1. */
const SENT_BYTES = 1_000n;

/** Asks a node for its fees and the deployment's feed for the coin's price. */
export function createGasPrice(deps: {
  client: PublicClient;
  /** AggregatorV3 feed of the native coin in US dollars; null without one. */
  feed: Address | null;
  decimals: number;
  /** Assumed price in US dollars while no feed answers: more than the coin is likely to be worth. */
  fallbackUsd: number;
  now: () => Date;
}): GasPrice {
  const fees = cachedFor(FEES_CACHED_MS, deps.now, () => readFees(deps.client));
  const coin = cachedFor(COIN_CACHED_MS, deps.now, () => readCoinMicroUsd(deps));
  return {
    async microUsd(gas) {
      const [{ perGas, l1 }, coinMicroUsd] = await Promise.all([fees(), coin()]);
      const unit = 10n ** BigInt(deps.decimals);
      return ((gas * perGas + l1) * coinMicroUsd + unit - 1n) / unit;
    },
  };
}

/** Wei per gas of the next block, and wei of a rollup's L1 for one transaction. */
async function readFees(client: PublicClient): Promise<{ readonly perGas: bigint; readonly l1: bigint }> {
  const [perGas, l1] = await Promise.all([client.getGasPrice(), readL1Fee(client)]);
  return { perGas, l1 };
}

async function readL1Fee(client: PublicClient): Promise<bigint> {
  const code = await client.getCode({ address: L1_ORACLE.address });
  if (code === undefined) return 0n;
  return client.readContract({ ...L1_ORACLE, functionName: "getL1FeeUpperBound", args: [SENT_BYTES] });
}

async function readCoinMicroUsd({
  client,
  feed,
  fallbackUsd,
  now,
}: Parameters<typeof createGasPrice>[0]): Promise<bigint> {
  const unknown = BigInt(Math.ceil(fallbackUsd)) * MICRO;
  if (feed === null) return unknown;
  try {
    const contract = { address: feed, abi: FEED } as const;
    const [decimals, [, answer, , updatedAt]] = await Promise.all([
      client.readContract({ ...contract, functionName: "decimals" }),
      client.readContract({ ...contract, functionName: "latestRoundData" }),
    ]);
    const age = BigInt(Math.floor(now().getTime() / 1000)) - updatedAt;
    return answer > 0n && age <= MAX_ANSWER_AGE_SECONDS
      ? (answer * MICRO) / 10n ** BigInt(decimals)
      : unknown;
  } catch {
    // A feed that does not answer makes the coin dear, never free.
    return unknown;
  }
}

/** The same answer for a while; a failure is not kept. */
function cachedFor<Answer>(ms: number, now: () => Date, ask: () => Promise<Answer>): () => Promise<Answer> {
  let last: { readonly at: number; readonly answer: Promise<Answer> } | null = null;
  return () => {
    const at = now().getTime();
    if (last !== null && at - last.at < ms) return last.answer;
    const answer = ask();
    last = { at, answer };
    answer.catch(() => {
      if (last?.answer === answer) last = null;
    });
    return answer;
  };
}
