import { type Address, type Hex, hexToBigInt, hexToNumber } from "viem";
import type { JsonRpc } from "../../../devnet/json-rpc.ts";
import { addressesIn, type Deployment } from "../../../service/chain/deployments.ts";
import { type RawLog, receiptAnswer } from "../../../service/chain/node/rpc-answers.ts";
import { readTokenPayment } from "../../../service/chain/token-payment.ts";
import {
  describeSignedPayments,
  findAuthorizations,
  findSignedPayments,
} from "../../../service/ingest/enrich/authorizations.ts";
import {
  type BundleTransaction,
  describeExecutions,
  findExecutions,
} from "../../../service/ingest/enrich/executions.ts";
import type { Followed } from "../../../service/ingest/enrich/log-rows.ts";
import { describeCall, type MinedCall, medianTip } from "../../../service/ingest/enrich/own-call.ts";
import {
  addressesOf,
  describeCounterparties,
} from "../../../service/model/features/describe-counterparties.ts";
import { mainFundersIn, payersBackIn } from "../../../service/model/features/find-owners.ts";
import type {
  AccountFact,
  AsOf,
  Contact,
  CounterpartyFact,
  OpenApproval,
  SanctionsFlag,
  TokenList,
  WalletRows,
} from "../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import { type Mined, type MinedBlock, type MinedLog, readBlocks } from "./read-blocks.ts";

type OwnedCall = { readonly wallet: Address; readonly call: ReturnType<typeof describeCall> };

/** Rows about the followed wallets, derived from the blocks and their calls alone. */
export type ChainRows = {
  readonly asOf: AsOf;
  callsOf(wallet: Address): readonly ReturnType<typeof describeCall>[];
  counterpartiesOf(wallet: Address): readonly CounterpartyFact[];
  rowsOf(wallet: Address, sanctioned: boolean): WalletRows;
};

const APPROVAL = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";
const WITHOUT_LIMIT = 2n ** 255n;
const WINDOW_SECONDS = 180 * 86_400;

/** Reads a whole chain, of which strangers are only seen in blocks that hold a call of a followed wallet. */
export async function readChainRows(
  rpc: JsonRpc,
  { deployment, followed }: { deployment: Deployment; followed: ReadonlySet<Address> },
): Promise<ChainRows> {
  const blocks = await readBlocks(rpc);
  const market = { weth: lower(deployment.market.wrappedNative ?? "0x"), tokens: tokenList(deployment) };
  const follow = {
    followed: new Map([...followed].map((wallet) => [wallet, 0])),
    entryPoints: new Set(deployment.accounts.entryPoints.map(lower)),
    tokens: new Set(deployment.market.tokens.map(({ address }) => lower(address))),
  };
  const seen = blocks
    .map((block) => ({ block, own: ownCallsIn(block, follow, market.weth) }))
    .filter(({ own }) => own.length > 0);
  const calls = Map.groupBy(
    seen.flatMap(({ own }) => own),
    ({ wallet }) => wallet,
  );
  const graph = contactGraph(seen, follow.tokens);
  const facts = accountFacts(blocks);
  const newest = blocks.at(-1);
  const first = blocks[0];
  if (newest === undefined || first === undefined) throw new Error("the chain has no blocks");
  const publicFunders = addressesIn(deployment.accounts.publicFunders);
  const flags = new Map(
    [...addressesIn(deployment.accounts.mixers)].map((mixer) => [mixer, "mixer" as const]),
  );

  const callsOf = (wallet: Address): readonly ReturnType<typeof describeCall>[] =>
    (calls.get(wallet) ?? []).map(({ call }) => call);
  const approvals = openApprovals(blocks, followed);
  const counterpartiesOf = (wallet: Address): readonly CounterpartyFact[] =>
    describeCounterparties({
      wallet,
      addresses: addressesOf(callsOf(wallet), approvals.get(wallet) ?? []),
      windowStart: newest.time - WINDOW_SECONDS,
      ...{ graph, facts, publicFunders, flags },
      payersBack: payersBackIn(graph.usersOf, wallet),
      policy: AHS_2026_2,
    });
  return {
    asOf: { blockNumber: newest.number, blockHash: newest.hash, timestamp: newest.time },
    callsOf,
    counterpartiesOf,
    rowsOf: (wallet, sanctioned) => ({
      ...{ wallet, chainId: deployment.chainId, tokens: market.tokens },
      calls: callsOf(wallet),
      counterparties: counterpartiesOf(wallet),
      approvals: approvals.get(wallet) ?? [],
      delegation: { to: null },
      servicesUpAt: null,
      sanctions: sanctioned ? [listing(newest)] : [],
      coverage: {
        ...{ fromBlock: first.number, fromTimestamp: first.time, toBlock: newest.number },
        ...{ complete: true, sources: ["chain"] },
      },
      chainStartTimestamp: first.time,
    }),
  };
}

function listing({ hash, time }: MinedBlock): SanctionsFlag {
  const detected = new Date(time * 1_000).toISOString();
  return { source: "chainalysis-oracle", reference: hash, detected_at: detected };
}

type Follow = {
  readonly followed: Followed;
  readonly entryPoints: ReadonlySet<Address>;
  /** Those whose signed payments are trusted. */
  readonly tokens: ReadonlySet<Address>;
};

/** Calls of followed wallets in a block, what their smart accounts executed in it, and payments that they signed. */
function ownCallsIn(block: MinedBlock, follow: Follow, weth: Address): readonly OwnedCall[] {
  const prices = block.transactions.map(({ receipt }) => hexToBigInt(receipt.effectiveGasPrice));
  const tip = medianTip(prices, block.baseFee);
  const marketPrice = tip === null ? null : block.baseFee + tip;
  return block.transactions.flatMap((transaction) => {
    const { sent, receipt } = transaction;
    const logs = receipt.logs.map((log) => rawLog(log, block));
    const bundle = bundleOf(transaction, block.number, logs);
    const own = follow.followed.has(sent.from) ? [{ call: minedCall(transaction, block), logs }] : [];
    const { executions } = findExecutions(logs, follow);
    const executed = describeExecutions(executions, bundle, follow.entryPoints).calls.map((one) => ({
      ...one,
      call: { ...one.call, timestamp: block.time },
    }));
    const known = findAuthorizations(logs, follow);
    const signed =
      known.length === 0
        ? []
        : describeSignedPayments(receiptAnswer.parse(receipt), {
            known,
            tokens: follow.tokens,
            timestamp: block.time,
          });
    const priced = [...own, ...executed].map((one) => ({ ...one, marketPrice }));
    // Another account chose the price of what they signed.
    const unpriced = signed.map((one) => ({ ...one, marketPrice: null }));
    return [...priced, ...unpriced].map(({ call, logs, marketPrice: price }) => ({
      wallet: call.wallet,
      call: describeCall(call, { logs, l1Fee: null, marketPrice: price }, weth),
    }));
  });
}

function minedCall({ sent, receipt }: Mined, block: MinedBlock): MinedCall {
  const gasUsed = hexToBigInt(receipt.gasUsed);
  const gasPrice = hexToBigInt(receipt.effectiveGasPrice);
  return {
    ...{ hash: sent.hash, block: block.number, timestamp: block.time, position: 0 },
    ...{ wallet: sent.from, to: sent.to, input: sent.input, value: hexToBigInt(sent.value) },
    ...{ gasLimit: hexToBigInt(sent.gas), gasUsed, gasPrice, fee: gasUsed * gasPrice },
    transactionIndex: hexToNumber(sent.transactionIndex),
    ok: receipt.status === "0x1",
  };
}

function bundleOf({ sent, receipt }: Mined, block: number, logs: readonly RawLog[]): BundleTransaction {
  return {
    block,
    ...{ index: hexToNumber(sent.transactionIndex), to: sent.to, input: sent.input, logs },
    gasLimit: hexToBigInt(sent.gas),
    gasUsed: hexToBigInt(receipt.gasUsed),
    gasPrice: hexToBigInt(receipt.effectiveGasPrice),
  };
}

function rawLog(log: MinedLog, block: MinedBlock): RawLog {
  return { ...log, blockNumber: block.number, blockHash: block.hash, logIndex: hexToNumber(log.logIndex) };
}

/** Counts payments in tokens as dealings with the payee. Leaves funding out: on this chain only a ring pays back. */
function contactGraph(
  seen: readonly { readonly block: MinedBlock; readonly own: readonly OwnedCall[] }[],
  tokens: ReadonlySet<Address>,
) {
  const contacts = new Map<string, Contact>();
  const callsOf = new Map<Address, number>();
  const note = (account: Address, counterparty: Address | null, time: number): void => {
    callsOf.set(account, (callsOf.get(account) ?? 0) + 1);
    if (counterparty === null) return;
    const key = `${counterparty} ${account}`;
    const known = contacts.get(key);
    const firstTime = known?.firstTime ?? time;
    const calls = (known?.calls ?? 0) + 1;
    contacts.set(key, { counterparty, account, calls, sentMicroUsd: 0n, firstTime, lastTime: time });
  };
  for (const { block, own } of seen) {
    const callers = new Set(own.map(({ wallet }) => wallet));
    for (const { wallet, call } of own) note(wallet, call.recipient ?? call.to, block.time);
    for (const { sent, receipt } of block.transactions) {
      const logs = receipt.logs.map((log) => rawLog(log, block));
      for (const { payer, payee } of findSignedPayments(logs, tokens))
        if (!callers.has(payer)) note(payer, payee, block.time);
      if (callers.has(sent.from)) continue;
      note(sent.from, readTokenPayment(sent.input, sent.from)?.recipient ?? sent.to, block.time);
    }
  }
  const usersOf = new Map<Address, Contact[]>();
  const contactsOf = new Map<Address, Contact[]>();
  for (const key of [...contacts.keys()].sort()) {
    const contact = contacts.get(key);
    if (contact === undefined) continue;
    listIn(usersOf, contact.counterparty).push(contact);
    listIn(contactsOf, contact.account).push(contact);
  }
  return { usersOf, mainFunderOf: mainFundersIn(usersOf), contactsOf, callsOf };
}

/** Answers of a history source that knows every block. */
function accountFacts(blocks: readonly MinedBlock[]): Map<Address, AccountFact> {
  const facts = new Map<Address, AccountFact>();
  const note = (address: Address, part: Partial<AccountFact>): void => {
    const blank = { address, hasCode: false, creator: null, firstFunder: null, existedAt: null };
    const known = facts.get(address) ?? blank;
    facts.set(address, {
      address,
      hasCode: part.hasCode ?? known.hasCode,
      creator: known.creator ?? part.creator ?? null,
      firstFunder: known.firstFunder ?? part.firstFunder ?? null,
      existedAt: known.existedAt ?? part.existedAt ?? null,
    });
  };
  for (const { time, transactions } of blocks) {
    for (const { sent, receipt } of transactions) {
      note(sent.from, { existedAt: time });
      const created = receipt.contractAddress;
      if (created !== null) note(created, { hasCode: true, creator: sent.from, existedAt: time });
      else if (sent.to !== null && sent.value !== "0x0" && receipt.status === "0x1")
        note(sent.to, { firstFunder: sent.from });
    }
  }
  return facts;
}

function openApprovals(blocks: readonly MinedBlock[], followed: ReadonlySet<Address>) {
  const newest = new Map<string, { owner: Address; approval: OpenApproval | null }>();
  for (const { time, transactions } of blocks) {
    for (const { address: token, topics, data } of transactions.flatMap(({ receipt }) => receipt.logs)) {
      const [event, ownerWord, spenderWord, more] = topics;
      if (event !== APPROVAL || ownerWord === undefined || spenderWord === undefined || more !== undefined)
        continue;
      const [owner, spender] = [addressIn(ownerWord), addressIn(spenderWord)];
      if (!followed.has(owner)) continue;
      const open = hexToBigInt(data) >= WITHOUT_LIMIT;
      const approval = open ? ({ token, spender, kind: "amount", approvedAt: time } as const) : null;
      newest.set(`${owner} ${token} ${spender}`, { owner, approval });
    }
  }
  const approvals = new Map<Address, OpenApproval[]>();
  for (const { owner, approval } of newest.values())
    if (approval !== null) listIn(approvals, owner).push(approval);
  return approvals;
}

/** Dollars as the feeds of the local chain start with them. */
function tokenList({ market }: Deployment): TokenList {
  const dollars: Readonly<Record<string, number>> = { ETH: 2_000, WETH: 2_000, USDC: 1, DAI: 1 };
  const pricesOf = (symbol: string) => {
    const price = dollars[symbol];
    return price === undefined ? [] : [[0, price * 1_000_000] as const];
  };
  const { symbol, decimals } = market.native;
  return {
    native: { symbol, decimals, prices: pricesOf(symbol) },
    tokens: market.tokens
      .map((token) => ({ ...token, address: lower(token.address), prices: pricesOf(token.symbol) }))
      .map(({ feed: _, ...token }) => token)
      .toSorted((a, b) => (a.address < b.address ? -1 : 1)),
  };
}

function listIn<Key, Value>(lists: Map<Key, Value[]>, key: Key): Value[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

function addressIn(word: Hex): Address {
  return `0x${word.slice(26)}`;
}

/** Rows hold addresses in lower case. */
export function lower(address: string): Address {
  return address.toLowerCase() as Address;
}
