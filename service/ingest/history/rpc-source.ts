import { numberToHex } from "viem";
import { z } from "zod";
import { count, word } from "../../chain/node/rpc-answers.ts";
import { mapLimited } from "../../net/map-limited.ts";
import { type AskPolicy, askNode, isFailure, readAs } from "./ask-source.ts";
import { type AskPortions, answersOf, BATCH_POLICY } from "./batch-answers.ts";
import { type BlockRows, type L1Fee, readRows } from "./batch-rows.ts";
import { walletsPart, wholeBlock } from "./batch-select.ts";
import type { BatchSource, BlockRange } from "./batch-source.ts";
import { type HistoryFailure, historyFailure } from "./history.ts";

/** Every block is read whole, so the number of wallets costs memory alone. */
const MAX_WALLETS = 1_000_000;
/** Blocks of one answer, and those that are read at once. */
const PORTION = 16;
const AT_ONCE = 4;

const row = z.record(z.string(), z.unknown());
const blockSchema = z
  .looseObject({ hash: word, transactions: z.array(row) })
  .nullable()
  .transform((block) => ({ block }));
const receiptsSchema = z
  .array(z.looseObject({ transactionHash: word, logs: z.array(row) }))
  .nullable()
  .transform((receipts) => ({ receipts }));

/** Batches from a node with eth_getBlockReceipts, an own one: two requests a block, and the wallets are found here. */
export function createRpcSource(options: {
  /** JSON-RPC endpoint. */
  readonly url: string;
  readonly l1Fee: L1Fee;
  readonly policy?: AskPolicy;
}): BatchSource {
  const { url, l1Fee, policy = BATCH_POLICY } = options;
  const node: Node = { url, policy };
  // Each request is tried by itself.
  const once = { ...policy, tries: 1 };
  const askFor = ({ to }: BlockRange): AskPortions =>
    async function* ask(from, signal) {
      const end = Math.min(to, from + PORTION - 1);
      const numbers = Array.from({ length: end - from + 1 }, (_, place) => from + place);
      const read = await mapLimited(numbers, AT_ONCE, (number) => readBlock(node, { number, l1Fee }, signal));
      const blocks: BlockRows[] = [];
      for (const block of read) {
        if (!isFailure(block)) {
          blocks.push(block);
          continue;
        }
        const last = blocks.at(-1);
        if (last !== undefined) yield { kind: "portion", blocks, to: last.header.number };
        yield block;
        return;
      }
      yield { kind: "portion", blocks, to: end };
    };
  return {
    name: "rpc",
    maxWallets: MAX_WALLETS,
    newestBlock: (signal) =>
      askNode(
        node,
        {
          method: "eth_getBlockByNumber",
          params: ["finalized", false],
          read: (block) => readAs(z.object({ number: count }), block, "the node returned no block"),
        },
        signal,
      ),
    readWallets: (request, signal) =>
      answersOf(
        request,
        { ask: askFor(request), select: walletsPart(request), policy: once, everyBlock: true },
        signal,
      ),
    readBlocks: (range, signal) =>
      answersOf(range, { ask: askFor(range), select: wholeBlock, policy: once, everyBlock: true }, signal),
  };
}

type Node = { readonly url: string; readonly policy: AskPolicy };

async function readBlock(
  node: Node,
  { number, l1Fee }: { readonly number: number; readonly l1Fee: L1Fee },
  signal: AbortSignal,
): Promise<BlockRows | HistoryFailure> {
  const [answer, receiptsAnswer] = await Promise.all([
    askNode(
      node,
      {
        method: "eth_getBlockByNumber",
        params: [numberToHex(number), true],
        read: (block) => readAs(blockSchema, block, `block ${number} has another form`),
      },
      signal,
    ),
    askNode(
      node,
      {
        method: "eth_getBlockReceipts",
        params: [numberToHex(number)],
        read: (receipts) =>
          readAs(receiptsSchema, receipts, `the receipts of block ${number} have another form`),
      },
      signal,
    ),
  ]);
  if (isFailure(answer)) return answer;
  if (isFailure(receiptsAnswer)) return receiptsAnswer;
  const [{ block }, { receipts }] = [answer, receiptsAnswer];
  if (block === null || receipts === null)
    return historyFailure("behind", `the node does not have block ${number} yet`);
  const { transactions } = block;
  const isPaired =
    transactions.length === receipts.length &&
    transactions.every(({ hash }, place) => hash === receipts[place]?.transactionHash);
  if (!isPaired)
    return historyFailure("inconsistent", `block ${number}: the receipts are not of its transactions`);
  // A receipt's type is that of its transaction, and both name the block.
  const mined = transactions.map((transaction, place) => ({ ...transaction, ...receipts[place] }));
  const logs = receipts.flatMap((receipt) => receipt.logs);
  const read = readRows({ header: block, transactions: mined, logs }, l1Fee);
  if (isFailure(read)) return read;
  const whole = wholeBlock(read);
  return isFailure(whole) ? whole : read;
}
