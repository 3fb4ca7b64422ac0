import type { Address, Hex } from "viem";
import type { RawLog } from "../../chain/node/raw-log.ts";

/** What a log of a registry says of one agent; a change leaves alone what it does not name. Wallets are lower-case. */
export type RegistryEvent =
  | {
      readonly kind: "registered";
      readonly agentId: bigint;
      readonly wallet: Address | null;
      readonly uri: string | null;
    }
  /** Names the URI of a registration; a change of the wallet in the next event only repeats what the registration said. */
  | { readonly kind: "announced"; readonly agentId: bigint; readonly uri: string | null }
  | {
      readonly kind: "changed";
      readonly agentId: bigint;
      readonly wallet?: Address | null;
      readonly uri?: string | null;
    };

/** Reads the events of one kind of registry. */
export type RegistryDecoder = {
  /** First topics of the events that it reads. */
  readonly topics: readonly Hex[];
  /** Null for a log that is malformed, or says nothing of an agent's registration, wallet or URI. */
  readonly decode: (log: Pick<RawLog, "topics" | "data">) => RegistryEvent | null;
};

/** Longer than the longest data: URI of a document of 64 KiB. */
const MAX_URI_CHARACTERS = 100_000;

/** A URI that PostgreSQL can hold; null for none, for one with a NUL, and for one of more than 100,000 characters. */
export function registryUri(text: string): string | null {
  if (text === "" || text.length > MAX_URI_CHARACTERS || text.includes("\0")) return null;
  return text.toWellFormed();
}

/** An address in lower case; null for the zero address, which is nobody's wallet. */
export function registryWallet(address: string): Address | null {
  return /^0x0{40}$/.test(address) ? null : (address.toLowerCase() as Address);
}
