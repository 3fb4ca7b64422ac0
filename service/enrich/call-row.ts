import type { Address } from "viem";
import type { Creation, IndexedCall } from "../store/enrich-reads.ts";
import type { EnrichRows } from "../store/enrich-writes.ts";
import { decodeLog } from "./decode-log.ts";
import type { RawLog } from "./raw-log.ts";

/** An own call with what its receipt says. */
export type CallReceipt = {
  readonly call: IndexedCall;
  /** Wei; null where the receipt has none. */
  readonly l1FeeWei: bigint | null;
  readonly logs: readonly RawLog[];
};

/** The stored facts of an own call; `creations` may hold those of other wallets and later ones. */
export function callRow(
  chainId: number,
  { call, l1FeeWei, logs }: CallReceipt,
  creations: readonly Creation[],
): EnrichRows["calls"][number] {
  const emitters = [...new Set(logs.map((log) => log.address))];
  const own = new Set<Address>([call.wallet, ...createdBy(call, creations)]);
  return {
    chainId,
    hash: call.hash,
    block: call.block,
    transactionIndex: call.transactionIndex,
    wallet: call.wallet,
    l1FeeWei,
    logs: logs.length,
    emitters,
    outsideEmitters: emitters.filter((emitter) => !own.has(emitter)),
    approvals: logs.filter((log) => isApprovalBy(call.wallet, log)).length,
  };
}

function createdBy(call: IndexedCall, creations: readonly Creation[]): readonly Address[] {
  return creations
    .filter(({ wallet, block, transactionIndex }) => {
      const isBefore =
        block < call.block || (block === call.block && transactionIndex <= call.transactionIndex);
      return wallet === call.wallet && isBefore;
    })
    .map(({ contract }) => contract);
}

function isApprovalBy(wallet: Address, log: RawLog): boolean {
  const decoded = decodeLog(log);
  return decoded?.event === "approval" && decoded.approval.owner === wallet;
}
