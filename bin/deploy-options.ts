import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Address, getAddress, isAddress } from "viem";
import { z } from "zod";
import type { GateWish } from "../service/chain/deploy.ts";
import type { EscrowWish } from "../service/chain/describe-escrow.ts";
import { loadNetwork, type Network } from "../service/chain/networks.ts";

/** Usage of `ahs deploy`. */
export const DEPLOY_USAGE = `Usage: ahs deploy --network base|base-sepolia|FILE --out FILE
       [--owner ADDRESS] [--publisher ADDRESS] [--signer ADDRESS]... [--request-fee WEI]
       [--registry ADDRESS] [--registry-block N] [--sanctions ADDRESS|none] [--sanctions-block N]
       [--usdc ADDRESS] [--finality BLOCKS] [--name NAME]
   or: ahs deploy --registry ADDRESS --sanctions ADDRESS|none --out FILE [any of the above]
   or: ahs deploy --deployment FILE --out FILE
       --verdict-signer ADDRESS... --escrow GENERATION:ADDRESS:BLOCK... [--owner ADDRESS]
       [--min-score N --max-age SECONDS --unscored allow|refuse]
   or: ahs deploy --deployment FILE --out FILE --bonds
The first two deploy the oracle: on a chain described by networks/NAME.json or a file like it, over which options win, or
on one described by options alone. A contract's first block, where it is not given, is asked from the node, which has to
keep an archive for that. The third deploys the evaluator of verdicts beside the oracle of a deployment, allows the
escrows (generation G1, G3 or V3, with the block from which their jobs are followed), and with the last three options a
hook for each that gates funding by the provider's score. It deploys the accounts for bonds as well, if the deployment has a
USDC; the fourth deploys only those, beside an evaluator that has none.
The key of PUBLISHER_PRIVATE_KEY pays, and has every role that is not named. A request to follow a wallet costs --request-fee,
on a public chain 100000000000000 wei unless another is given and never 0.`;

/** A third of a dollar at 3,000 USD per coin, which is what ENROLMENT_MAX_FEE_WEI lets our own publisher pay. */
const PUBLIC_REQUEST_FEE_WEI = 100_000_000_000_000n;

/** The oracle's fee for a request to follow a wallet. Throws for a missing fee on a public chain, where only the fee bounds the followed wallets. */
export function requestFeeOf({ "request-fee": given }: OracleOptions, isLocal: boolean): bigint {
  if (isLocal) return given ?? 0n;
  if (given !== 0n) return given ?? PUBLIC_REQUEST_FEE_WEI;
  throw new Error(
    "--request-fee: given 0, expected more on a public chain: without a fee every caller can have any contract followed for the gas alone",
  );
}

const address = z.custom<Address>(
  (value) => typeof value === "string" && isAddress(value),
  "expected an address",
);
const block = z.coerce.number().int().nonnegative();
const out = z.string().min(1);

const oracleOptions = z
  .strictObject({
    network: z.string().min(1).optional(),
    registry: address.optional(),
    "registry-block": block.optional(),
    sanctions: z.union([z.literal("none"), address]).optional(),
    "sanctions-block": block.optional(),
    out,
    owner: address.optional(),
    publisher: address.optional(),
    signer: z.array(address).optional(),
    usdc: address.optional(),
    "request-fee": z.coerce.bigint().nonnegative().optional(),
    finality: z.coerce.number().int().positive().optional(),
    name: z.string().optional(),
  })
  .refine(
    ({ network, registry, sanctions }) =>
      network !== undefined || (registry !== undefined && sanctions !== undefined),
    { error: "without --network, --registry and --sanctions say what the chain has" },
  );

/** GENERATION:ADDRESS:BLOCK, with an address whose checksum is right. */
export const escrowOption = z
  .string()
  .regex(/^(G1|G3|V3):0x[0-9a-fA-F]{40}:\d{1,12}$/, "expected GENERATION:ADDRESS:BLOCK")
  .transform((text, context): EscrowWish => {
    const [generation, at, startBlock] = text.split(":") as [EscrowWish["generation"], Address, string];
    if (!isAddress(at)) context.addIssue({ code: "custom", message: `${at} has a wrong checksum` });
    return { generation, address: at, startBlock: Number(startBlock) };
  });

const evaluatorOptions = z
  .strictObject({
    out,
    owner: address.optional(),
    "verdict-signer": z.array(address).min(1),
    escrow: z.array(escrowOption).min(1),
    "min-score": z.coerce.number().int().min(0).max(100).optional(),
    "max-age": z.coerce.bigint().positive().optional(),
    unscored: z.enum(["allow", "refuse"]).optional(),
  })
  .refine(
    (given) => {
      const gate = [given["min-score"], given["max-age"], given.unscored];
      return gate.every((value) => value === undefined) || gate.every((value) => value !== undefined);
    },
    { error: "--min-score, --max-age and --unscored come together: a hook has no default for any" },
  );

const bondOptions = z.strictObject({ out, bonds: z.literal(true) });

export type OracleOptions = z.infer<typeof oracleOptions>;

/** Parameters of the evaluator's deployment; owner is null if none is named. */
export type EvaluatorOptions = {
  readonly out: string;
  readonly owner: Address | null;
  readonly signers: readonly Address[];
  readonly escrows: readonly EscrowWish[];
  /** Null for no hooks. */
  readonly gate: GateWish | null;
};

/**
 * Reads the options of `ahs deploy`: --bonds means accounts for bonds, an escrow or a verdict signer the evaluator, and all else the
 * oracle. Throws with every fault and the usage; without an option with the usage alone.
 */
export function parseDeployOptions(
  args: readonly string[],
):
  | { kind: "oracle"; options: OracleOptions }
  | { kind: "evaluator"; options: EvaluatorOptions }
  | { kind: "bonds"; options: z.infer<typeof bondOptions> } {
  if (args.length === 0) throw new Error(DEPLOY_USAGE);
  const lists = new Set(["signer", "escrow", "verdict-signer"]);
  const shapes = [oracleOptions.shape, evaluatorOptions.shape, bondOptions.shape];
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      shapes.flatMap(Object.keys).map((name) => {
        const type: "string" | "boolean" = name === "bonds" ? "boolean" : "string";
        return [name, { type, multiple: lists.has(name) }];
      }),
    ),
  });
  if (values.bonds !== undefined) return { kind: "bonds", options: checked(bondOptions, values) };
  if (values.escrow === undefined && values["verdict-signer"] === undefined) {
    return { kind: "oracle", options: checked(oracleOptions, values) };
  }
  return { kind: "evaluator", options: evaluatorOf(checked(evaluatorOptions, values)) };
}

function evaluatorOf(given: z.infer<typeof evaluatorOptions>): EvaluatorOptions {
  const { "min-score": minScore, "max-age": maxAge, unscored } = given;
  const isGated = minScore !== undefined && maxAge !== undefined && unscored !== undefined;
  return {
    out: given.out,
    owner: given.owner ?? null,
    signers: given["verdict-signer"],
    escrows: given.escrow,
    gate: isGated ? { minScore, maxAge, allowUnscored: unscored === "allow" } : null,
  };
}

function checked<T>(schema: z.ZodType<T>, values: Readonly<Record<string, unknown>>): T {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path: [name], message }) => {
    if (name === undefined) return message;
    const option = String(name);
    return values[option] === undefined ? `--${option} is missing` : `--${option}: ${message}`;
  });
  throw new Error(`${faults.join("\n")}\n${DEPLOY_USAGE}`);
}

/** ERC-4337 entry points 0.6 to 0.9, at one address on every chain that has them. */
const ENTRY_POINTS = [
  "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789",
  "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
  "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108",
  "0x433709009B8330FDa32311DF1C2AFA402eD8D009",
] as const;
/** Of a chain of which no more is said. */
const FINALITY_BLOCKS = 30;

type Known = Omit<Network, "identityRegistry"> & {
  /** Null where the options have to name it. */
  readonly identityRegistry: Network["identityRegistry"] | null;
};

/** Merges the options into the network file that they name; throws if that file is of another chain. */
export function resolveNetwork(wanted: OracleOptions, chainId: number): Network {
  const known = wanted.network === undefined ? nothingKnown(chainId) : named(wanted.network, chainId);
  const usdc = wanted.usdc === undefined ? known.usdc : getAddress(wanted.usdc);
  return {
    ...known,
    name: wanted.name ?? known.name,
    finalityBlocks: wanted.finality ?? known.finalityBlocks,
    identityRegistry: registryOf(wanted, known),
    sanctionsList: sanctionsOf(wanted, known),
    usdc,
    market: { ...known.market, tokens: tokensWith(known.market.tokens, usdc) },
  };
}

/** `base` is networks/base.json of this checkout; anything else is a path. */
function named(network: string, chainId: number): Network {
  const ours = new URL(`../networks/${network}.json`, import.meta.url).pathname;
  const known = loadNetwork(/^[a-z0-9-]+$/.test(network) && existsSync(ours) ? ours : network);
  if (known.chainId === chainId) return known;
  throw new Error(`the network ${network} is chain ${known.chainId}, and the node's is chain ${chainId}`);
}

function nothingKnown(chainId: number): Known {
  return {
    chainId,
    name: `chain-${chainId}`,
    finalityBlocks: FINALITY_BLOCKS,
    identityRegistry: null,
    sanctionsList: null,
    registries: [],
    reputationRegistry: null,
    validationRegistry: null,
    usdc: null,
    market: {
      native: { symbol: "ETH", decimals: 18, feed: null },
      wrappedNative: null,
      tokens: [],
    },
    accounts: {
      entryPoints: [...ENTRY_POINTS],
      publicFunders: [],
      mixers: [],
      venues: [],
      vettedServices: [],
    },
    staticWallets: [],
  };
}

function registryOf(wanted: OracleOptions, known: Known): Network["identityRegistry"] {
  const { registry, "registry-block": startBlock } = wanted;
  if (registry !== undefined) return { address: getAddress(registry), startBlock: startBlock ?? null };
  if (known.identityRegistry === null) throw new Error("no identity registry is named");
  return startBlock === undefined ? known.identityRegistry : { ...known.identityRegistry, startBlock };
}

function sanctionsOf(wanted: OracleOptions, known: Known): Network["sanctionsList"] {
  const { sanctions, "sanctions-block": startBlock } = wanted;
  if (sanctions === "none") return null;
  if (sanctions !== undefined) return { address: getAddress(sanctions), startBlock: startBlock ?? null };
  if (known.sanctionsList === null || startBlock === undefined) return known.sanctionsList;
  return { ...known.sanctionsList, startBlock };
}

function tokensWith(tokens: Network["market"]["tokens"], usdc: Address | null): Network["market"]["tokens"] {
  if (usdc === null || tokens.some(({ address }) => address === usdc)) return tokens;
  return [...tokens, { address: usdc, symbol: "USDC", decimals: 6, feed: null }];
}
