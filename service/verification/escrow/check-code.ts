import { type Address, getAddress, type Hex, keccak256, slice } from "viem";
import { askNode, type EscrowClient } from "./escrow-node.ts";
import type { KnownEscrow } from "./read-job.ts";

/** Where ERC-1967 proxies keep the address of their implementation. */
const IMPLEMENTATION_SLOT: Hex = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
/** Where they keep that of the beacon that names it, which can change unseen. */
const BEACON_SLOT: Hex = "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50";
const NO_CODE = keccak256("0x");
const NOTHING: Hex = `0x${"0".repeat(64)}`;

/**
 * What changed of an escrow's code since it was reviewed, as of a block or the newest; null where nothing did. Throws an
 * EscrowFailure without an answer of the node.
 */
export async function findCodeChange(
  client: EscrowClient,
  escrow: KnownEscrow,
  block?: bigint,
): Promise<string | null> {
  const at = block === undefined ? {} : { blockNumber: block };
  const hash = await hashOf(client, escrow.address, at);
  if (hash !== escrow.codeHash) return `its code hashes to ${hash}, not to ${escrow.codeHash}`;
  const [pointer, beacon] = await Promise.all([
    readSlot(client, escrow.address, { slot: IMPLEMENTATION_SLOT, at }),
    readSlot(client, escrow.address, { slot: BEACON_SLOT, at }),
  ]);
  if (beacon !== NOTHING) return `it points to the beacon ${getAddress(slice(beacon, 12))}`;
  const { implementation } = escrow;
  if (implementation === null) {
    return pointer === NOTHING ? null : "it points to an implementation, and had none";
  }
  const target = getAddress(slice(pointer, 12));
  if (target !== getAddress(implementation.address)) {
    return `it points to the implementation ${target}, not to ${implementation.address}`;
  }
  const targetHash = await hashOf(client, target, at);
  if (targetHash === implementation.codeHash) return null;
  return `its implementation's code hashes to ${targetHash}, not to ${implementation.codeHash}`;
}

async function readSlot(
  client: EscrowClient,
  address: Address,
  { slot, at }: { readonly slot: Hex; readonly at: { readonly blockNumber?: bigint } },
): Promise<Hex> {
  const value = await askNode(() => client.getStorageAt({ address, slot, ...at }));
  return value === undefined || BigInt(value) === 0n ? NOTHING : value;
}

async function hashOf(
  client: EscrowClient,
  address: Address,
  at: { readonly blockNumber?: bigint },
): Promise<Hex> {
  const code = await askNode(() => client.getCode({ address, ...at }));
  return code === undefined ? NO_CODE : keccak256(code);
}
