import { type Address, type Hex, numberToHex, toEventSelector } from "viem";
import type { RpcObject, ServedBlock, ServedChain } from "../devnet/history-servers/served-chain.ts";
import { samplingOf } from "../service/chain/deployments.ts";
import { APPROVAL, AUTHORIZATION_USED, TRANSFER } from "../service/chain/node/rpc-answers.ts";
import {
  createSchedule,
  mix,
  type Schedule,
  type ScheduledEvent,
  type ScheduleOptions,
} from "./scale-schedule.ts";

/** A chain like Base that is made from a seed block by block, as it is asked for. */
export type ScaleChain = ServedChain &
  Required<Pick<ServedChain, "naming" | "state">> & {
    readonly lastBlock: number;
    /** Lower-case. */
    readonly wallets: readonly Address[];
    readonly schedule: Schedule;
    readonly hashOf: (block: number) => Hex;
    readonly timeOf: (block: number) => number;
  };

const SECONDS_PER_BLOCK = 2;
const GENESIS = 1_764_000_000;
/** Transactions of a block. */
const SLOTS = 230;
/** Has no divisor in common with the number of slots, so that no two events of a block meet. */
const SLOT_STEP = 7;
/** Logs of a stranger's transaction. */
const STRANGER_LOGS = 2;
const [HUBS, STRANGERS, SPAM_TOKENS, FACILITATORS, PAYEES] = [400, 60_000, 5_000, 5, 12];
const BASE_FEE = 5_000_000;
/** One call in so many is a payment that the wallet signs and a facilitator sends. */
const SIGNED_EVERY = 7;
const FOREIGN = toEventSelector("Done(uint256)");
const SWAP = toEventSelector("Swap(address,uint256,uint256,uint256,uint256,address)");
const ONE_HOUR = 3_600;

/** Addresses of the chain by what they are. */
const SALT = { wallet: 11, hub: 12, stranger: 13, spam: 14, facilitator: 15, contract: 16 };

/** Eight hexadecimal digits for each number. */
function hexOf(...numbers: readonly number[]): string {
  return numbers.map((number) => number.toString(16).padStart(8, "0")).join("");
}

function addressOf(kind: keyof typeof SALT, id: number): Address {
  const salt = SALT[kind];
  return `0x${hexOf(...[0, 1, 2, 3, 4].map((place) => mix(salt, id, place)))}`;
}

export const USDC = addressOf("hub", 1_000_000);
export const WETH = addressOf("hub", 1_000_001);
export const FEED = addressOf("hub", 1_000_002);

const pools = new Map<string, Address>();

/** The same, remembered: of those that are named again and again. */
function known(kind: keyof typeof SALT, id: number): Address {
  const key = `${kind} ${id}`;
  const address = pools.get(key) ?? addressOf(kind, id);
  pools.set(key, address);
  return address;
}

const wordOf = (address: Address): Hex => `0x${"0".repeat(24)}${address.slice(2)}`;
const sized = (value: number): string => value.toString(16).padStart(64, "0");

/** A transaction before its place is known. */
type Draft = {
  readonly from: Address;
  readonly to: Address;
  readonly nonce: number;
  readonly value?: number;
  readonly input?: Hex;
  readonly failed?: boolean;
  readonly logs: readonly DraftLog[];
};
type DraftLog = { readonly address: Address; readonly topics: readonly Hex[]; readonly data: Hex };

/**
 * Makes the chain. Blocks that `isFull` names hold all their transactions. The others are read by filters alone: they lack transactions
 * of strangers in which no wallet is named. Places and numbers are the same.
 */
export function createScaleChain(
  options: ScheduleOptions & { readonly isFull: (block: number) => boolean },
): ScaleChain {
  const { seed, lastBlock, isFull } = options;
  const schedule = createSchedule(options);
  const wallets = Array.from({ length: options.wallets }, (_, id) => addressOf("wallet", id));
  const numbers = new Map(wallets.map((wallet, id) => [wallet as string, id]));
  const of = { seed, schedule, wallets };
  const read = (number: number) => blockOf(of, number, isFull(number));
  return {
    lastBlock,
    wallets,
    schedule,
    timeOf,
    hashOf: (block) => hashOf(seed, block),
    finalized: async () => lastBlock,
    read: async (number) => (number >= 0 && number <= lastBlock ? read(number) : null),
    naming: (accounts, range) => {
      const named = [...accounts].flatMap((account) => {
        const wallet = numbers.get(account);
        return wallet === undefined ? [] : schedule.blocksOf(wallet, range);
      });
      return [...new Set(named)].toSorted((a, b) => a - b);
    },
    state: {
      blockOf: (hash) => Number.parseInt(hash.slice(2, 10), 16),
      sentBy: (account, block) => {
        const wallet = numbers.get(account);
        return wallet === undefined ? 0 : sentBy(of, wallet, schedule.callsBy(wallet, block));
      },
      codeOf: () => "0x",
      call: (_, data, block) => feedAnswer(data, block),
    },
  };
}

/** Whether the usual rule samples a block. */
export function isSampled(block: number): boolean {
  const { everyBlocks, blocks } = samplingOf({});
  return block % everyBlocks < blocks;
}

const timeOf = (block: number) => GENESIS + block * SECONDS_PER_BLOCK;

type World = {
  readonly seed: number;
  readonly schedule: Schedule;
  readonly wallets: readonly Address[];
};

/** Transactions that a wallet had sent before its call of a rank. Half of the wallets had some before the first block; signed payments do not count. */
function sentBy({ seed }: World, wallet: number, rank: number): number {
  const before = mix(seed, 5, wallet) % 2 === 0 ? 0 : mix(seed, 6, wallet) % 1_000;
  return before + rank - Math.floor(rank / SIGNED_EVERY);
}

function hashOf(seed: number, block: number): Hex {
  return `0x${hexOf(block, ...[1, 2, 3, 4, 5, 6, 7].map((place) => mix(seed, 7, block, place)))}`;
}

/** An answer a day of a price that moves; nothing for another method. */
function feedAnswer(data: Hex, block: number): Hex {
  const updated = timeOf(block) - (timeOf(block) % ONE_HOUR);
  switch (data) {
    case "0x313ce567":
      return `0x${sized(8)}`;
    case "0xfeaf968c":
      return `0x${[1, 2_000e8 + (block % 1e9), updated, updated, 1].map(sized).join("")}`;
    default:
      return "0x";
  }
}

function blockOf(world: World, number: number, isFull: boolean): ServedBlock {
  const { seed, schedule } = world;
  const events = schedule.eventsIn(number);
  if (events.length > SLOTS)
    throw new Error(`expected at most ${SLOTS} events in block ${number}, got ${events.length}`);
  const first = mix(seed, 8, number) % SLOTS;
  const drafts = new Map(
    events.map((event, place) => [(first + place * SLOT_STEP) % SLOTS, draftOf(world, event, number)]),
  );
  const slots = isFull
    ? Array.from({ length: SLOTS }, (_, slot) => slot)
    : [...drafts.keys()].toSorted((a, b) => a - b);
  const block = { blockNumber: numberToHex(number), blockHash: hashOf(seed, number) };
  let [ownLogs, seen] = [0, 0];
  const mined = slots.map((slot) => {
    const draft = drafts.get(slot);
    const firstLog = ownLogs + STRANGER_LOGS * (slot - seen);
    if (draft !== undefined) {
      ownLogs += draft.logs.length;
      seen += 1;
    }
    const hash: Hex = `0x${hexOf(number, ...[0, 1, 2, 3, 4, 5, 6].map((place) => mix(seed, 9, number, slot, place)))}`;
    return mine(draft ?? strangersDraft(seed, number, slot), { ...block, hash, slot, firstLog });
  });
  return {
    block: {
      number: block.blockNumber,
      hash: block.blockHash,
      parentHash: hashOf(seed, Math.max(0, number - 1)),
      timestamp: numberToHex(timeOf(number)),
      baseFeePerGas: numberToHex(BASE_FEE + (number % 1_000)),
      transactions: mined.map(({ transaction }) => transaction),
    },
    receipts: mined.map(({ receipt }) => receipt),
  };
}

function mine(
  { from, to, nonce, value = 0, input = "0x", failed = false, logs }: Draft,
  at: {
    readonly blockNumber: Hex;
    readonly blockHash: Hex;
    readonly hash: Hex;
    readonly slot: number;
    readonly firstLog: number;
  },
) {
  const { blockNumber, blockHash, hash, slot, firstLog } = at;
  const place = { blockNumber, blockHash, transactionIndex: numberToHex(slot) };
  const price = numberToHex(BASE_FEE + 1_000_000 + ((slot * 7_919) % 500_000));
  const transaction: RpcObject = {
    ...place,
    hash,
    from,
    to,
    nonce: numberToHex(nonce),
    type: "0x2",
    value: numberToHex(value),
    input,
    gas: "0x30d40",
    gasPrice: price,
    maxFeePerGas: price,
    maxPriorityFeePerGas: "0xf4240",
  };
  const receipt = {
    ...place,
    transactionHash: hash,
    from,
    to,
    status: failed ? "0x0" : "0x1",
    type: "0x2",
    contractAddress: null,
    gasUsed: "0x15f90",
    cumulativeGasUsed: "0x15f90",
    effectiveGasPrice: price,
    l1Fee: "0x3b9aca00",
    logs: logs.map(
      (log, number): RpcObject => ({
        ...log,
        ...place,
        transactionHash: hash,
        logIndex: numberToHex(firstLog + number),
        removed: false,
      }),
    ),
  };
  return { transaction, receipt };
}

function transferOf(token: Address, from: Address, to: Address, amount: number): DraftLog {
  return { address: token, topics: [TRANSFER, wordOf(from), wordOf(to)], data: `0x${sized(amount)}` };
}

/** A stranger swaps at a hub; most go to few hubs. */
function strangersDraft(seed: number, block: number, slot: number): Draft {
  const random = mix(seed, 21, block, slot);
  const from = known("stranger", random % STRANGERS);
  const hub = known("hub", hubOf(random));
  const amounts = [1_000_000 + (random % 1_000), 5_000_000 + (random % 1_000)] as const;
  return {
    from,
    to: hub,
    nonce: block % 100_000,
    input: swapInput(amounts[0], from),
    logs: [transferOf(USDC, from, hub, amounts[0]), transferOf(WETH, hub, from, amounts[1])],
  };
}

function hubOf(random: number): number {
  return Math.floor(HUBS * ((random % 10_007) / 10_007) ** 3);
}

const swapInput = (amount: number, to: Address): Hex =>
  `0x38ed1739${sized(amount)}${sized(1)}${sized(160)}${wordOf(to).slice(2)}${sized(amount)}${sized(2)}${wordOf(USDC).slice(2)}${wordOf(WETH).slice(2)}`;

function draftOf(world: World, event: ScheduledEvent, block: number): Draft {
  return event.of === "call" ? callOf(world, event) : receiptOf(world, event, block);
}

/** Call of a wallet: it swaps at hubs, pays, approves, fails, calls contracts that few call; one call in seven is a signed payment. */
function callOf(world: World, { wallet, rank }: ScheduledEvent): Draft {
  const random = mix(world.seed, 22, wallet, rank);
  const from = world.wallets[wallet] ?? USDC;
  const nonce = sentBy(world, wallet, rank);
  const kind = random % 100;
  const hub = known("hub", hubOf(random >>> 7));
  const payee = addressOf("stranger", STRANGERS + wallet * PAYEES + ((random >>> 9) % PAYEES));
  const amount = 1_000_000 + (random % 9_000_000);
  if (rank % SIGNED_EVERY === SIGNED_EVERY - 1) return signedPayment({ random, from, payee, amount });
  if (kind < 5) return { from, to: hub, nonce, input: swapInput(amount, from), failed: true, logs: [] };
  if (kind < 50) {
    const swap = {
      address: hub,
      topics: [SWAP, wordOf(from), wordOf(from)],
      data: `0x${[0, amount, amount, 0].map(sized).join("")}` as Hex,
    };
    const logs = [transferOf(USDC, from, hub, amount), transferOf(WETH, hub, from, amount), swap];
    return { from, to: hub, nonce, input: swapInput(amount, from), logs };
  }
  if (kind < 72) {
    const input: Hex = `0xa9059cbb${wordOf(payee).slice(2)}${sized(amount)}`;
    return { from, to: USDC, nonce, input, logs: [transferOf(USDC, from, payee, amount)] };
  }
  if (kind < 80) {
    const log: DraftLog = {
      address: USDC,
      topics: [APPROVAL, wordOf(from), wordOf(hub)],
      data: `0x${sized(amount)}`,
    };
    const input: Hex = `0x095ea7b3${wordOf(hub).slice(2)}${sized(amount)}`;
    return { from, to: USDC, nonce, input, logs: [log] };
  }
  if (kind < 90) return { from, to: payee, nonce, value: amount * 1_000_000, logs: [] };
  const contract = addressOf("contract", wallet * 3 + (random % 3));
  return {
    from,
    to: contract,
    nonce,
    input: `0x12345678${sized(amount)}`,
    logs: [{ address: contract, topics: [FOREIGN], data: `0x${sized(rank)}` }],
  };
}

/** A payment of x402: EIP-3009, sent by a facilitator. */
function signedPayment({
  random,
  from,
  payee,
  amount,
}: {
  random: number;
  from: Address;
  payee: Address;
  amount: number;
}): Draft {
  const word: Hex = `0x${hexOf(...[0, 1, 2, 3, 4, 5, 6, 7].map((place) => mix(23, random, place)))}`;
  const words = [
    wordOf(from).slice(2),
    wordOf(payee).slice(2),
    sized(amount),
    sized(0),
    sized(2 ** 40),
    word.slice(2),
    sized(27),
    word.slice(2),
    word.slice(2),
  ];
  return {
    from: known("facilitator", random % FACILITATORS),
    to: USDC,
    nonce: random % 1_000_000,
    input: `0xe3ee160e${words.join("")}`,
    logs: [
      { address: USDC, topics: [AUTHORIZATION_USED, wordOf(from), word], data: "0x" },
      transferOf(USDC, from, payee, amount),
    ],
  };
}

/** Transaction of a stranger for a wallet: spam tokens, payments in tokens and in coin. */
function receiptOf({ seed, wallets }: World, { wallet, rank }: ScheduledEvent, block: number): Draft {
  const random = mix(seed, 24, wallet, rank);
  const to = wallets[wallet] ?? USDC;
  const from = known("stranger", random % STRANGERS);
  const amount = 1_000_000 + (random % 1_000_000);
  const same = { from, nonce: block % 100_000 };
  const kind = (random >>> 8) % 10;
  if (kind < 4) {
    const token = known("spam", random % SPAM_TOKENS);
    return {
      ...same,
      to: token,
      input: `0x99999999${sized(amount)}`,
      logs: [transferOf(token, from, to, amount)],
    };
  }
  if (kind < 8) {
    const input: Hex = `0xa9059cbb${wordOf(to).slice(2)}${sized(amount)}`;
    return { ...same, to: USDC, input, logs: [transferOf(USDC, from, to, amount)] };
  }
  return { ...same, to, value: amount * 1_000_000, logs: [] };
}
