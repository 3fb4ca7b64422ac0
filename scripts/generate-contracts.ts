import { execFileSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/**
 * Compiles contracts/ and devnet/contracts/ and writes the ABI of every contract and interface as <name>.ts, and
 * contracts/bytecode.json with the creation code of every deployable one. ABIs of devnet/contracts go to devnet/abi, all others
 * to service/chain/abi.
 * `--check` writes nothing and exits 1 when a file differs from what it would write.
 */

type Artifact = { readonly abi: readonly unknown[]; readonly bytecode: { readonly object: string } };
type Compiled = { readonly name: string; readonly source: string; readonly artifact: Artifact };

const root = join(import.meta.dirname, "..");
const serviceFolder = "service/chain/abi";
const devnetFolder = "devnet/abi";
/** Local substitutes of contracts that the service reads or calls. */
const STAND_INS: ReadonlySet<string> = new Set([
  "AuthCaptureEscrow",
  "BatchSettlement",
  "IdentityRegistry",
  "ReputationRegistry",
  "SanctionsList",
  "UsdCoin",
  "ValidationRegistry",
]);
const bytecodeFile = "contracts/bytecode.json";

const drifted = process.argv.includes("--check") ? check(generate()) : write(generate());
if (drifted.length > 0) {
  process.stderr.write(`Out of date: ${drifted.join(", ")}. Run: node scripts/generate-contracts.ts\n`);
  process.exitCode = 1;
}

function generate(): Map<string, string> {
  const compiled = compile();
  const names = new Set(compiled.map((contract) => contract.name));
  const files = new Map<string, string>();
  const bytecode: Record<string, string> = {};
  for (const { name, source, artifact } of compiled) {
    if (artifact.abi.length === 0 || isCoveredInterface(name, names)) continue;
    const path = `${folderOf(name, source)}/${kebabCase(nameOf(name))}.ts`;
    if (files.has(path)) throw new Error(`${source}: a second contract would write ${path}`);
    files.set(path, abiModule(nameOf(name), artifact.abi));
    if (artifact.bytecode.object !== "0x") bytecode[name] = linked(name, artifact.bytecode.object);
  }
  return files.set(bytecodeFile, `${JSON.stringify(bytecode, null, 2)}\n`);
}

/** Builds into a fresh folder: artifacts of a deleted contract must not survive, other builds must not interfere. */
function compile(): Compiled[] {
  const out = mkdtempSync(join(tmpdir(), "contracts-"));
  try {
    const args = ["build", "--skip", "test", "--out", join(out, "out"), "--cache-path", join(out, "cache")];
    execFileSync(join(root, "node_modules/.bin/forge"), args, {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
    });
    return sources().flatMap((source) => artifactsOf(source, join(out, "out", basename(source))));
  } finally {
    rmSync(out, { recursive: true });
  }
}

function sources(): string[] {
  const files = globSync("{contracts,devnet/contracts}/**/*.sol", { cwd: root }).sort();
  const seen = new Set<string>();
  for (const file of files) {
    if (seen.has(basename(file))) throw new Error(`${file}: file names must differ between folders`);
    seen.add(basename(file));
  }
  return files;
}

/**
 * A file that contracts of both compiler profiles import is compiled twice, as X.json and X.ir.json. Interfaces and
 * inlined libraries may be: their ABI is the same. Creation code may not, for it would be a choice.
 */
function artifactsOf(source: string, folder: string): Compiled[] {
  if (!existsSync(folder)) return [];
  const found = new Map<string, Compiled>();
  for (const file of readdirSync(folder).sort()) {
    const name = basename(file, ".json").replace(/\.ir$/, "");
    const artifact = JSON.parse(readFileSync(join(folder, file), "utf8")) as Artifact;
    const deployable = artifact.abi.length > 0 && artifact.bytecode.object !== "0x";
    if (found.has(name) && deployable) throw new Error(`${source}: ${name} is compiled by two profiles`);
    found.set(name, { name, source, artifact });
  }
  return [...found.values()];
}

/** IAgentHealthOracle says nothing that the ABI of AgentHealthOracle does not. */
function isCoveredInterface(name: string, names: ReadonlySet<string>): boolean {
  return nameOf(name) !== name && names.has(nameOf(name));
}

function folderOf(name: string, source: string): string {
  return source.startsWith("devnet/") && !STAND_INS.has(name) ? devnetFolder : serviceFolder;
}

function nameOf(contract: string): string {
  return /^I[A-Z]/.test(contract) ? contract.slice(1) : contract;
}

function kebabCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .toLowerCase();
}

function abiModule(name: string, abi: readonly unknown[]): string {
  const constant = kebabCase(name).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const items = abi.map((item) => `  ${JSON.stringify(item)},\n`).join("");
  return `// Generated by scripts/generate-contracts.ts.\nexport const ${constant}Abi = [\n${items}] as const;\n`;
}

function linked(name: string, code: string): string {
  if (!/^0x[0-9a-f]+$/.test(code))
    throw new Error(`${name} needs a linked library: its bytecode has placeholders`);
  return code;
}

function staleAbis(files: ReadonlyMap<string, string>): string[] {
  return [serviceFolder, devnetFolder].flatMap((folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder))
          .map((file) => `${folder}/${file}`)
          .filter((path) => !files.has(path))
      : [],
  );
}

function check(files: ReadonlyMap<string, string>): string[] {
  const differing = [...files].filter(([path, content]) => {
    const file = join(root, path);
    return !existsSync(file) || readFileSync(file, "utf8") !== content;
  });
  return [...differing.map(([path]) => path), ...staleAbis(files)];
}

function write(files: ReadonlyMap<string, string>): string[] {
  for (const folder of [serviceFolder, devnetFolder]) mkdirSync(join(root, folder), { recursive: true });
  for (const path of staleAbis(files)) rmSync(join(root, path));
  for (const [path, content] of files) writeFileSync(join(root, path), content);
  return [];
}
