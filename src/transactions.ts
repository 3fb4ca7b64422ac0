import { ponder } from "ponder:registry";
import { recordOwnCall, recordReceived } from "./record-transaction.ts";

ponder.on("RegisteredOwner:transaction:from", ({ event, context }) => recordOwnCall(event, context));
ponder.on("AgentWallet:transaction:from", ({ event, context }) => recordOwnCall(event, context));
ponder.on("RequestedWallet:transaction:from", ({ event, context }) => recordOwnCall(event, context));
ponder.on("StaticWallet:transaction:from", ({ event, context }) => recordOwnCall(event, context));

ponder.on("RegisteredOwner:transaction:to", ({ event, context }) => recordReceived(event, context));
ponder.on("AgentWallet:transaction:to", ({ event, context }) => recordReceived(event, context));
ponder.on("RequestedWallet:transaction:to", ({ event, context }) => recordReceived(event, context));
ponder.on("StaticWallet:transaction:to", ({ event, context }) => recordReceived(event, context));
