import { type Context, type Event, ponder } from "ponder:registry";
import { bondChange } from "ponder:schema";
import { bondChangeId } from "./ids.ts";

type BondEvent =
  | Event<"AssuranceAccounts:AssuranceDeposited">
  | Event<"AssuranceAccounts:WithdrawalRequested">
  | Event<"AssuranceAccounts:WithdrawalCancelled">
  | Event<"AssuranceAccounts:JobCommitted">
  | Event<"AssuranceAccounts:CommitmentReleased">;

ponder.on("AssuranceAccounts:AssuranceDeposited", noteAvailable);
ponder.on("AssuranceAccounts:WithdrawalRequested", noteAvailable);
ponder.on("AssuranceAccounts:WithdrawalCancelled", noteAvailable);
ponder.on("AssuranceAccounts:JobCommitted", noteAvailable);
ponder.on("AssuranceAccounts:CommitmentReleased", noteAvailable);

/** Events of a block come in their order: the last one is the state after it. */
async function noteAvailable({ event, context }: { event: BondEvent; context: Context }): Promise<void> {
  const { wallet, available } = event.args;
  const block = event.block.number;
  await context.db
    .insert(bondChange)
    .values({ id: bondChangeId(wallet, block), wallet, block, available })
    .onConflictDoUpdate({ available });
}
