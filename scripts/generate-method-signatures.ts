import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import * as standards from "viem";
import { type Abi, parseAbiItem, toFunctionSelector, toFunctionSignature } from "viem";
import * as accountAbstraction from "viem/account-abstraction";

/**
 * Writes the signatures of known contract functions that send transactions, with their selectors. The functions of our
 * own ABIs, of viem's and of the list below are read anew. Those of the npm packages are kept from the file;
 * `--download` fetches the packages and reads them again. `--check` writes nothing and exits 1 if the file differs.
 */

/** Packages with ABIs. Their licences allow it to copy signatures. */
const PACKAGES = [
  { name: "@openzeppelin/contracts", version: "5.7.0", licence: "MIT" },
  { name: "@account-abstraction/contracts", version: "0.8.0", licence: "MIT" },
  { name: "@safe-global/safe-deployments", version: "1.37.63", licence: "MIT" },
  { name: "@bgd-labs/aave-address-book", version: "4.44.22", licence: "MIT" },
  { name: "@0x/contract-artifacts", version: "3.18.1", licence: "Apache-2.0" },
  { name: "@morpho-org/blue-sdk-viem", version: "5.2.1", licence: "MIT" },
  { name: "@uniswap/v4-periphery", version: "1.0.3", licence: "MIT" },
  { name: "@thirdweb-dev/contracts", version: "3.15.0", licence: "Apache-2.0" },
  { name: "@opensea/seaport-js", version: "4.3.0", licence: "MIT" },
  { name: "permissionless", version: "0.4.1", licence: "MIT" },
  { name: "@eth-optimism/contracts-ts", version: "0.17.2", licence: "MIT" },
  { name: "@balancer/sdk", version: "6.1.1", licence: "MIT" },
  { name: "@synthetixio/contracts", version: "1.2.5", licence: "MIT" },
  { name: "@zoralabs/protocol-deployments", version: "0.7.6", licence: "MIT" },
  { name: "@layerzerolabs/oft-evm", version: "4.0.1", licence: "MIT" },
] as const;

/** Functions of standards and of much used contracts that none of the packages holds. */
const LISTED = [
  // ERC-20 and wrapped coins
  "deposit()",
  "withdraw(uint256)",
  "increaseAllowance(address,uint256)",
  "decreaseAllowance(address,uint256)",
  // ERC-2612 and EIP-3009
  "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
  "permit(address,address,uint256,uint256,bytes)",
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
  "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
  "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
  "cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)",
  "cancelAuthorization(address,bytes32,bytes)",
  // Uniswap V2, V3 and Universal Router
  "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)",
  "swapTokensForExactTokens(uint256,uint256,address[],address,uint256)",
  "swapExactETHForTokens(uint256,address[],address,uint256)",
  "swapTokensForExactETH(uint256,uint256,address[],address,uint256)",
  "swapExactTokensForETH(uint256,uint256,address[],address,uint256)",
  "swapETHForExactTokens(uint256,address[],address,uint256)",
  "swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)",
  "swapExactETHForTokensSupportingFeeOnTransferTokens(uint256,address[],address,uint256)",
  "swapExactTokensForETHSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)",
  "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
  "addLiquidityETH(address,uint256,uint256,uint256,address,uint256)",
  "removeLiquidity(address,address,uint256,uint256,uint256,address,uint256)",
  "removeLiquidityETH(address,uint256,uint256,uint256,address,uint256)",
  "exactInput((bytes,address,uint256,uint256,uint256))",
  "exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))",
  "exactOutput((bytes,address,uint256,uint256,uint256))",
  "exactOutputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))",
  "exactInput((bytes,address,uint256,uint256))",
  "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
  "exactOutput((bytes,address,uint256,uint256))",
  "exactOutputSingle((address,address,uint24,address,uint256,uint256,uint160))",
  "swapExactTokensForTokens(uint256,uint256,address[],address)",
  "swapTokensForExactTokens(uint256,uint256,address[],address)",
  "multicall(bytes[])",
  "multicall(uint256,bytes[])",
  "multicall(bytes32,bytes[])",
  "unwrapWETH9(uint256)",
  "unwrapWETH9(uint256,address)",
  "sweepToken(address,uint256,address)",
  "refundETH()",
  "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))",
  "increaseLiquidity((uint256,uint256,uint256,uint256,uint256,uint256))",
  "decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))",
  "collect((uint256,address,uint128,uint128))",
  "execute(bytes,bytes[])",
  "execute(bytes,bytes[],uint256)",
  // Aerodrome
  "swapExactTokensForTokens(uint256,uint256,(address,address,bool,address)[],address,uint256)",
  "swapExactETHForTokens(uint256,(address,address,bool,address)[],address,uint256)",
  "swapExactTokensForETH(uint256,uint256,(address,address,bool,address)[],address,uint256)",
  // Smart accounts: ERC-4337, ERC-7579, ERC-7821 and common account code
  "execute(address,uint256,bytes)",
  "execute(bytes32,bytes)",
  "executeBatch(address[],bytes[])",
  "executeBatch(address[],uint256[],bytes[])",
  "executeBatch((address,uint256,bytes)[])",
  "execute((address,uint256,bytes)[])",
  "execute((address,uint256,bytes)[],bytes)",
  // Circle CCTP
  "depositForBurn(uint256,uint32,bytes32,address)",
  "depositForBurn(uint256,uint32,bytes32,address,bytes32,uint256,uint32)",
  "receiveMessage(bytes,bytes)",
  // ERC-8004: identity, reputation and validation registries
  "register()",
  "register(string)",
  "register(string,(string,bytes)[])",
  "setMetadata(uint256,string,bytes)",
  "setAgentURI(uint256,string)",
  "setAgentWallet(uint256,address,uint256,bytes)",
  "unsetAgentWallet(uint256)",
  "giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)",
  "revokeFeedback(uint256,uint64)",
  "appendResponse(uint256,address,uint64,string,bytes32)",
  "validationRequest(address,uint256,string,bytes32)",
  "validationResponse(bytes32,uint8,string,bytes32,string)",
] as const;

const root = join(import.meta.dirname, "..");
const file = join(root, "service/reports/labels/method-signatures.txt");
/** Longest signature kept: a longer one says no more to a reader. */
const MAX_CHARACTERS = 200;
/** Folders of packages with code for tests. */
const SKIPPED =
  /(^|\/)(tests?|mocks?|script|scripts|node_modules)(\/|$)|\.(t|s)\.sol\/|mock|harness|stdcheats|\/i?vm(safe)?\.json/i;

const isCheck = process.argv.includes("--check");
const packaged = process.argv.includes("--download") ? downloadSignatures() : readPackaged();
const text = formatFile(await ownSignatures(), packaged);
if (!isCheck) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  process.stderr.write(`Out of date: ${file}. Run: node scripts/generate-method-signatures.ts\n`);
  process.exitCode = 1;
}

/** Two sections, ours and the packages', each sorted by selector. An ambiguous selector is left out of both. */
function formatFile(own: ReadonlySet<string>, others: ReadonlySet<string>): string {
  const all = new Set([...own, ...others].filter((signature) => signature.length <= MAX_CHARACTERS));
  const bySelector = Map.groupBy(all, (signature) => toFunctionSelector(signature));
  const linesOf = (chosen: (signature: string) => boolean) =>
    [...bySelector]
      .flatMap(([selector, [signature, ...more]]) =>
        signature === undefined || more.length > 0 || !chosen(signature)
          ? []
          : [`${selector.slice(2)} ${signature}`],
      )
      .sort()
      .join("\n");
  const sources = PACKAGES.map(({ name, version, licence }) => `# ${name} ${version} (${licence})`);
  return `# Selectors and signatures of contract functions. Written by scripts/generate-method-signatures.ts.
# Sources: contracts/ of this project, viem (MIT), the list in the script, and for the second part:
${sources.join("\n")}
# A selector of several signatures is left out.

# ours, viem and list
${linesOf((signature) => own.has(signature))}

# packages
${linesOf((signature) => !own.has(signature))}
`;
}

/** Signatures of the packages as the file has them. */
function readPackaged(): Set<string> {
  const [, lines = ""] = readFileSync(file, "utf8").split("\n# packages\n");
  return new Set(lines.split("\n").flatMap((line) => line.split(" ")[1] ?? []));
}

async function ownSignatures(): Promise<Set<string>> {
  const folders = ["service/chain/abi", "devnet/abi"].map((folder) => join(root, folder));
  const modules = await Promise.all(
    folders.flatMap((folder) =>
      readdirSync(folder).map((name): Promise<Record<string, unknown>> => import(join(folder, name))),
    ),
  );
  const abis = [...modules, standards, accountAbstraction].flatMap((module) =>
    Object.values<unknown>(module).filter((value): value is Abi => Array.isArray(value)),
  );
  const functions = abis.flatMap((abi) => abi.flatMap((item) => (isSent(item) ? [signatureOf(item)] : [])));
  return new Set([...LISTED, ...functions.filter((signature) => signature !== null)]);
}

function downloadSignatures(): Set<string> {
  const folder = mkdtempSync(join(tmpdir(), "signatures-"));
  try {
    return new Set(PACKAGES.flatMap(({ name, version }) => readPackage(folder, `${name}@${version}`)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Signatures in the JSON and JavaScript files of a package, which are parsed and never run. */
function readPackage(folder: string, name: string): string[] {
  const target = join(folder, name.replaceAll("/", "-"));
  mkdirSync(target);
  const archive = execFileSync("npm", ["pack", "--silent", "--ignore-scripts", name], { cwd: target });
  execFileSync("tar", ["-xzf", archive.toString().trim()], { cwd: target });
  const files = readdirSync(target, { recursive: true, encoding: "utf8" })
    .map((path) => path.replace(/^package\//, ""))
    .filter((path) => /\.(json|[cm]?js)$/.test(path) && !SKIPPED.test(path));
  const found = files.flatMap((path) =>
    readSignatures(path, readFileSync(join(target, "package", path), "utf8")),
  );
  if (found.length === 0) throw new Error(`${name} holds no ABI`);
  return found;
}

function readSignatures(path: string, source: string): string[] {
  if (!source.includes("function")) return [];
  if (path.endsWith(".json")) return readAbi(JSON.parse(source));
  const tree = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node) || ts.isStringLiteralLike(node)) {
      const signature = signatureOf(literalOf(node));
      if (signature !== null) found.push(signature);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** Signatures of a JSON file: an ABI, an object with the member `abi`, or one with such an object in `compilerOutput`. */
function readAbi(json: unknown): string[] {
  if (Array.isArray(json)) return json.flatMap((item) => signatureOf(item) ?? []);
  if (typeof json !== "object" || json === null) return [];
  const { abi, compilerOutput } = json as Record<string, unknown>;
  return [...(Array.isArray(abi) ? readAbi(abi) : []), ...readAbi(compilerOutput ?? null)];
}

/** The value of a literal; undefined for any other expression. */
function literalOf(node: ts.Node): unknown {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isArrayLiteralExpression(node)) return node.elements.map(literalOf);
  if (!ts.isObjectLiteralExpression(node)) return undefined;
  const members = node.properties.flatMap((member) => {
    if (!ts.isPropertyAssignment(member)) return [];
    const { name } = member;
    return ts.isIdentifier(name) || ts.isStringLiteralLike(name)
      ? [[name.text, literalOf(member.initializer)]]
      : [];
  });
  return Object.fromEntries(members);
}

/** The signature of an ABI item or of a human-readable function that may change state; null for all else. */
function signatureOf(item: unknown): string | null {
  try {
    if (typeof item === "string") {
      if (!/^function \w+\(.*\)/.test(item)) return null;
      const parsed = parseAbiItem([item]);
      return isSent(parsed) ? toFunctionSignature(parsed) : null;
    }
    return isSent(item) ? toFunctionSignature(item) : null;
  } catch {
    // A literal that only resembles a function.
    return null;
  }
}

function isSent(item: unknown): item is Extract<Abi[number], { type: "function" }> {
  if (typeof item !== "object" || item === null) return false;
  const { type, name, inputs, stateMutability } = item as Record<string, unknown>;
  const isView = stateMutability === "view" || stateMutability === "pure";
  return type === "function" && typeof name === "string" && name !== "" && Array.isArray(inputs) && !isView;
}
