import { type Context, type Event, ponder } from "ponder:registry";
import { sanctionsChange, wallet } from "ponder:schema";
import { sanctionsChangeId } from "./ids.ts";

type Change =
  | Event<"SanctionsList:SanctionedAddressesAdded">
  | Event<"SanctionsList:SanctionedAddressesRemoved">;

ponder.on("SanctionsList:SanctionedAddressesAdded", ({ event, context }) =>
  recordChange(event, context, true),
);
ponder.on("SanctionsList:SanctionedAddressesRemoved", ({ event, context }) =>
  recordChange(event, context, false),
);

async function recordChange(event: Change, context: Context, listed: boolean): Promise<void> {
  for (const [position, address] of event.args.addrs.entries()) {
    await context.db.insert(sanctionsChange).values({
      id: sanctionsChangeId(event.block.number, event.log.logIndex, position),
      address,
      listed,
      block: event.block.number,
      logIndex: event.log.logIndex,
      timestamp: event.block.timestamp,
      transactionHash: event.transaction.hash,
    });
    const followed = await context.db.find(wallet, { address });
    if (followed === null) continue;
    await context.db.update(wallet, { address }).set({ touchedBlock: event.block.number });
  }
}
