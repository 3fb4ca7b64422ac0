import { ponder } from "ponder:registry";

/** Handles every event that the real index handles, by doing nothing: what is left is Ponder's own cost. */
const ignore = () => undefined;

ponder.on("IdentityRegistry:Registered", ignore);
ponder.on("IdentityRegistry:URIUpdated", ignore);
ponder.on("IdentityRegistry:Transfer", ignore);
ponder.on("IdentityRegistry:MetadataSet", ignore);
ponder.on("SanctionsList:SanctionedAddressesAdded", ignore);
ponder.on("SanctionsList:SanctionedAddressesRemoved", ignore);
ponder.on("Oracle:Published", ignore);
ponder.on("Oracle:ScoreRelayed", ignore);
ponder.on("Oracle:Invalidated", ignore);
ponder.on("Oracle:RootPublished", ignore);
ponder.on("Oracle:ScoreRequested", ignore);
ponder.on("Tick:block", ignore);
ponder.on("RegisteredOwner:transaction:from", ignore);
ponder.on("RegisteredOwner:transaction:to", ignore);
ponder.on("AgentWallet:transaction:from", ignore);
ponder.on("AgentWallet:transaction:to", ignore);
ponder.on("RequestedWallet:transaction:from", ignore);
ponder.on("RequestedWallet:transaction:to", ignore);
ponder.on("StaticWallet:transaction:from", ignore);
ponder.on("StaticWallet:transaction:to", ignore);
