import type { FurtherRegistry } from "../../chain/deployments.ts";

/** An agent that an account is the wallet of. */
export type RegisteredAgent = {
  readonly agentId: bigint;
  /** As its registration document says, unchecked; null where that was never read or names none. */
  readonly name: string | null;
  /** Null for the registry that the index follows. */
  readonly registry: FurtherRegistry | null;
};
