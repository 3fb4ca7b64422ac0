import { type Context, type Event, ponder } from "ponder:registry";
import { agent, agentWallet } from "ponder:schema";
import { type Address, type Hex, zeroAddress } from "viem";
import { indexSettings } from "../ponder.config.ts";
import { followWallet } from "./follow-wallet.ts";
import { agentWalletId } from "./ids.ts";
import { recordOwnCall } from "./record-transaction.ts";

type RegistryEvent =
  | Event<"IdentityRegistry:Transfer">
  | Event<"IdentityRegistry:Registered">
  | Event<"IdentityRegistry:MetadataSet">;

ponder.on("IdentityRegistry:setup", async ({ context }) => {
  const { staticWallets, startBlock } = indexSettings.deployment;
  for (const listed of staticWallets) {
    const address = listed.toLowerCase() as Address;
    await followWallet(context, { address, source: "static", blockNumber: BigInt(startBlock) });
  }
});

// The owner comes from Transfer alone: a mint calls its owner back, which may hand the agent on before Registered is logged.
ponder.on("IdentityRegistry:Transfer", async ({ event, context }) => {
  const { from, to: owner, id: agentId } = event.args;
  if (from === zeroAddress) await mintAgent(event, context, { agentId, owner });
  const known = await context.db.find(agent, { agentId });
  if (known === null) return;
  await context.db.update(agent, { agentId }).set({ owner, updatedBlock: event.block.number });
});

ponder.on("IdentityRegistry:Registered", async ({ event, context }) => {
  const { agentId, agentURI, owner } = event.args;
  // A registry before version 2 logs it ahead of the mint.
  await mintAgent(event, context, { agentId, owner });
  await context.db.update(agent, { agentId }).set(({ agentUri }) => ({
    // An empty one leaves what was set during the mint.
    agentUri: agentURI === "" ? agentUri : storableUri(agentURI),
    registeredLogIndex: event.log.logIndex,
    updatedBlock: event.block.number,
  }));
  await followWithCall(event, context, { address: owner, source: "registered" });
});

ponder.on("IdentityRegistry:URIUpdated", async ({ event, context }) => {
  const known = await context.db.find(agent, { agentId: event.args.agentId });
  if (known === null) return;
  await context.db
    .update(agent, { agentId: event.args.agentId })
    .set({ agentUri: storableUri(event.args.newURI), updatedBlock: event.block.number });
});

ponder.on("IdentityRegistry:MetadataSet", async ({ event, context }) => {
  const { agentId, metadataKey, metadataValue } = event.args;
  const change = decodeAgentWalletChange(metadataKey, metadataValue);
  if (change === null) return;
  const known = await context.db.find(agent, { agentId });
  if (known === null || known.wallet === change.wallet || repeatsMint(known, event)) return;

  if (known.walletSpan !== null) {
    await context.db.update(agentWallet, { id: known.walletSpan }).set({ toBlock: event.block.number });
  }
  const { wallet } = change;
  const walletSpan = wallet === null ? null : await openSpan(event, context, { agentId, wallet });
  await context.db.update(agent, { agentId }).set({ wallet, walletSpan, updatedBlock: event.block.number });
  if (wallet !== null) await followWithCall(event, context, { address: wallet, source: "agent_wallet" });
});

/** Whether the log is the one right after Registered, which repeats the wallet of the mint whatever became of it meanwhile. */
function repeatsMint(known: typeof agent.$inferSelect, { block, log }: RegistryEvent): boolean {
  return (
    known.registeredLogIndex !== null &&
    known.registeredBlock === block.number &&
    known.registeredLogIndex + 1 === log.logIndex
  );
}

/** Makes the row of a new agent, whose wallet is its first owner; one that is there stays as it is. */
async function mintAgent(
  event: RegistryEvent,
  context: Context,
  { agentId, owner }: { readonly agentId: bigint; readonly owner: Address },
): Promise<void> {
  if ((await context.db.find(agent, { agentId })) !== null) return;
  await context.db.insert(agent).values({
    agentId,
    owner,
    wallet: owner,
    walletSpan: await openSpan(event, context, { agentId, wallet: owner }),
    agentUri: "",
    registeredBlock: event.block.number,
    registeredAt: event.block.timestamp,
    registeredLogIndex: null,
    updatedBlock: event.block.number,
  });
}

async function openSpan(
  { block, log }: RegistryEvent,
  context: Context,
  { agentId, wallet }: { readonly agentId: bigint; readonly wallet: Address },
): Promise<string> {
  const id = agentWalletId(agentId, block.number, log.logIndex);
  await context.db
    .insert(agentWallet)
    .values({ id, agentId, wallet, fromBlock: block.number, toBlock: null });
  return id;
}

/** Ponder delivers the sender's event before the logs of a transaction, when a new wallet is not followed yet. */
async function followWithCall(
  event: Event<"IdentityRegistry:Registered"> | Event<"IdentityRegistry:MetadataSet">,
  context: Context,
  { address, source }: { readonly address: Address; readonly source: "registered" | "agent_wallet" },
): Promise<void> {
  const isNew = await followWallet(context, { address, source, blockNumber: event.block.number });
  if (isNew && event.transaction.from === address) await recordOwnCall({ sent: event, source }, context);
}

/** PostgreSQL holds no NUL, and no URI has one: an agent that names such a URI has none. */
function storableUri(uri: string): string {
  return uri.includes("\0") ? "" : uri;
}

type AgentWalletChange = { readonly wallet: Address | null };

const PACKED_ADDRESS_CHARACTERS = 42;

/**
 * Reads a MetadataSet event as a change of the agent's wallet (ERC-8004: 20 packed bytes set it, none clears it).
 * Null for every other metadata key and for a value of any other length.
 */
function decodeAgentWalletChange(metadataKey: string, metadataValue: Hex): AgentWalletChange | null {
  if (metadataKey !== "agentWallet") return null;
  if (metadataValue === "0x") return { wallet: null };
  if (metadataValue.length !== PACKED_ADDRESS_CHARACTERS) return null;
  return { wallet: metadataValue.toLowerCase() as Address };
}
