import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { type Hex, keccak256 } from "viem";
import { z } from "zod";
import type { TokenList } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { SanctionsListFile } from "../../sanctions/list-file.ts";
import { type FrozenFacts, readCounterpartyFile } from "../inputs-hash.ts";

/** The content of a file by its hash; throws where there is none. */
export type ReadFile = (hash: Hex) => Promise<unknown>;

const inputsSchema = z.object({
  as_of_block_hash: z.string(),
  counterparty_file: z.custom<Hex>((value) => typeof value === "string"),
  policy: z.custom<Hex>((value) => typeof value === "string"),
  rows: z.string(),
  sanctions_list: z.custom<Hex>((value) => typeof value === "string"),
  token_list: z.custom<Hex>((value) => typeof value === "string"),
});

/** Everything that a record says it follows from, besides what the chain tells. */
export type RecordFiles = {
  readonly hashes: z.infer<typeof inputsSchema>;
  readonly policy: Policy;
  readonly tokens: TokenList;
  readonly sanctions: SanctionsListFile;
  readonly frozen: FrozenFacts;
};

/** Reads the files behind an inputs hash; throws where one is missing or is not what its hash says. */
export async function readFiles(inputsHash: Hex, read: ReadFile): Promise<RecordFiles> {
  const hashes = inputsSchema.parse(await readChecked(inputsHash, read));
  const [policy, tokens, sanctions, frozen] = await Promise.all(
    [hashes.policy, hashes.token_list, hashes.sanctions_list, hashes.counterparty_file].map((hash) =>
      readChecked(hash, read),
    ),
  );
  return {
    hashes,
    // Each was written by the service under the hash that was just compared.
    policy: policy as Policy,
    tokens: tokens as TokenList,
    sanctions: sanctions as SanctionsListFile,
    frozen: readCounterpartyFile(frozen),
  };
}

async function readChecked(hash: Hex, read: ReadFile): Promise<unknown> {
  const content = await read(hash);
  const json = canonicalize(content);
  if (json === undefined) throw new Error(`the file ${hash} is no JSON`);
  const bytes = Buffer.from(json, "utf8");
  const known = [keccak256(bytes), `0x${createHash("sha256").update(bytes).digest("hex")}`];
  if (!known.includes(hash)) throw new Error(`the file ${hash} has the hash ${known[0]}`);
  return content;
}
