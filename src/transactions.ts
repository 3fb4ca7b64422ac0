import { ponder } from "ponder:registry";
import { recordOwnCall, recordReceived } from "./record-transaction.ts";

ponder.on("RegisteredOwner:transaction:from", ({ event, context }) =>
  recordOwnCall({ sent: event, source: "registered" }, context),
);
ponder.on("RegisteredOwner:transaction:to", ({ event, context }) =>
  recordReceived({ sent: event, source: "registered" }, context),
);
ponder.on("AgentWallet:transaction:from", ({ event, context }) =>
  recordOwnCall({ sent: event, source: "agent_wallet" }, context),
);
ponder.on("AgentWallet:transaction:to", ({ event, context }) =>
  recordReceived({ sent: event, source: "agent_wallet" }, context),
);
ponder.on("RequestedWallet:transaction:from", ({ event, context }) =>
  recordOwnCall({ sent: event, source: "requested" }, context),
);
ponder.on("RequestedWallet:transaction:to", ({ event, context }) =>
  recordReceived({ sent: event, source: "requested" }, context),
);
ponder.on("StaticWallet:transaction:from", ({ event, context }) =>
  recordOwnCall({ sent: event, source: "static" }, context),
);
ponder.on("StaticWallet:transaction:to", ({ event, context }) =>
  recordReceived({ sent: event, source: "static" }, context),
);
