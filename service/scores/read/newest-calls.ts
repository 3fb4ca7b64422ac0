import { WALLET_BOUNDS } from "../../model/features/call-bounds.ts";

/** SQL: the newest own calls of a wallet, found by the primary key, as many as are read of one wallet. */
export function newestCalls(chainId: string, wallet: string): string {
  return `(select * from ahs.own_call where chain_id = ${chainId} and wallet = ${wallet}
    order by block desc, transaction_index desc, position desc limit ${WALLET_BOUNDS.calls})`;
}
