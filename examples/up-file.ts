import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Address, Hex } from "viem";

/** Contents of up.json, which `ahs up` writes. */
export type UpFile = {
  readonly rpc_url: string;
  readonly chain_id: number;
  readonly contracts: Readonly<Record<string, Address>>;
  readonly base_url: string;
  readonly verify_base_url: string;
  readonly database_url: string;
  readonly api_key: string;
  readonly payer: { readonly address: Address; readonly private_key: Hex };
  readonly provider: { readonly address: Address; readonly private_key: Hex };
  readonly samples: Readonly<Record<string, Address>>;
};

/** Reads up.json of a data directory; throws where nothing is up there. */
export function readUpFile(dataDir: string): UpFile {
  const file = join(dataDir, "up.json");
  if (!existsSync(file))
    throw new Error(`There is no ${file}: start the service with npm start, or name --data-dir.`);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** The address of a contract of the running chain, by its name there; throws where it has none. */
export function contractOf(up: UpFile, name: string): Address {
  const address = up.contracts[name];
  if (address === undefined) throw new Error(`The running chain has no ${name}.`);
  return address;
}
