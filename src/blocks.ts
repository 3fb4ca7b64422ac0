import { ponder } from "ponder:registry";
import { block } from "ponder:schema";

ponder.on("Tick:block", async ({ event, context }) => {
  await context.db.insert(block).values({
    number: event.block.number,
    hash: event.block.hash,
    timestamp: event.block.timestamp,
    baseFeePerGas: event.block.baseFeePerGas,
  });
});
