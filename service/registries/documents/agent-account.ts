import { escapeIdentifier } from "pg";

/**
 * SQL for the account that an agent `a` of a chain's index takes turns as: its owner where the owner has been its wallet, else
 * the wallet that acts or acted for it first. Being the wallet takes the wallet's own act, so that whoever hands agents over
 * keeps their turns, and takes none of the receiver's.
 */
export function agentAccount(chainId: number): string {
  const wallets = `${escapeIdentifier(`chain_${chainId}`)}.agent_wallet`;
  return `case
    when exists (select from ${wallets} w where w.agent_id = a.agent_id and w.wallet = a.owner) then a.owner
    else coalesce(
      a.wallet,
      (select w.wallet from ${wallets} w where w.agent_id = a.agent_id order by w.from_block, w.id limit 1),
      a.owner
    ) end`;
}
