import { type Context, ponder } from "ponder:registry";
import { agent, agentWallet } from "ponder:schema";
import type { Address } from "viem";
import { indexSettings } from "../ponder.config.ts";
import { decodeAgentWalletChange } from "./agent-wallet-metadata.ts";
import { followWallet } from "./follow-wallet.ts";
import { agentWalletId } from "./ids.ts";
import { recordOwnCall } from "./record-transaction.ts";

ponder.on("IdentityRegistry:setup", async ({ context }) => {
  const { staticWallets, startBlock } = indexSettings.deployment;
  for (const listed of staticWallets) {
    const address = listed.toLowerCase() as Address;
    await followWallet(context, { address, source: "static", blockNumber: BigInt(startBlock) });
  }
});

ponder.on("IdentityRegistry:Registered", async ({ event, context }) => {
  const { agentId, agentURI, owner } = event.args;
  await context.db
    .insert(agent)
    .values({
      agentId,
      owner,
      wallet: null,
      walletSpan: null,
      agentUri: agentURI,
      registeredBlock: event.block.number,
      registeredAt: event.block.timestamp,
      updatedBlock: event.block.number,
    })
    .onConflictDoNothing();
  const isNew = await followWallet(context, {
    address: owner,
    source: "registered",
    blockNumber: event.block.number,
  });
  // Within a transaction Ponder delivers the sender's event before the logs, when nobody followed a new wallet yet.
  if (isNew && event.transaction.from === owner) {
    await recordOwnCall({ sent: event, source: "registered" }, context);
  }
});

ponder.on("IdentityRegistry:URIUpdated", async ({ event, context }) => {
  const known = await context.db.find(agent, { agentId: event.args.agentId });
  if (known === null) return;
  await context.db
    .update(agent, { agentId: event.args.agentId })
    .set({ agentUri: event.args.newURI, updatedBlock: event.block.number });
});

ponder.on("IdentityRegistry:Transfer", async ({ event, context }) => {
  const known = await context.db.find(agent, { agentId: event.args.id });
  if (known === null) return;
  await context.db
    .update(agent, { agentId: event.args.id })
    .set({ owner: event.args.to, updatedBlock: event.block.number });
});

ponder.on("IdentityRegistry:MetadataSet", async ({ event, context }) => {
  const { agentId, metadataKey, metadataValue } = event.args;
  const change = decodeAgentWalletChange(metadataKey, metadataValue);
  if (change === null) return;
  const known = await context.db.find(agent, { agentId });
  if (known === null || known.wallet === change.wallet) return;

  if (known.walletSpan !== null) {
    await context.db.update(agentWallet, { id: known.walletSpan }).set({ toBlock: event.block.number });
  }
  const opened = {
    agentId,
    wallet: change.wallet,
    blockNumber: event.block.number,
    logIndex: event.log.logIndex,
  };
  const walletSpan =
    opened.wallet === null ? null : await openSpan(context, { ...opened, wallet: opened.wallet });
  await context.db
    .update(agent, { agentId })
    .set({ wallet: change.wallet, walletSpan, updatedBlock: event.block.number });
});

async function openSpan(
  context: Context,
  span: { agentId: bigint; wallet: Address; blockNumber: bigint; logIndex: number },
): Promise<string> {
  const id = agentWalletId(span.agentId, span.blockNumber, span.logIndex);
  await context.db
    .insert(agentWallet)
    .values({ id, agentId: span.agentId, wallet: span.wallet, fromBlock: span.blockNumber, toBlock: null });
  await followWallet(context, {
    address: span.wallet,
    source: "agent_wallet",
    blockNumber: span.blockNumber,
  });
  return id;
}
