import { parseArgs } from "node:util";
import type { Command } from "./command.ts";
import { type Config, OPTION_VARIABLES, parseConfig } from "./config.ts";
import { endOnFault } from "./end-on-fault.ts";
import { knownSecrets } from "./secrets/known-secrets.ts";
import { createScrub } from "./secrets/scrub.ts";

const USAGE = `Usage: npm run ahs -- COMMAND [options]

  up          start everything on this machine: chain, database, index, workers, API
  devnet      a local chain with our contracts and a simulated population
  index       follow the chain into the database
  serve       the HTTP API
  work        score, publish, nightly jobs
  migrate     bring the database schema to the newest version; --roles makes the roles of the processes
  keys        create | list | rotate | revoke API keys
  score       what the model says of one wallet, line by line with --explain; what another policy would move
  verify-score  compute a score again from a node and the files it names, and compare
  sanctions   import | status | check: the sanctions lists
  scan        run | list | show: scans of registries, documents and all scores, as each night
  unfollow    list | add | remove: addresses that are not followed, whatever names them on the chain
  payments    list | reconcile: what callers paid per call, against the chain
  review      list | show | decide: verdicts on HOLD, the longest held first
  doctor      look at settings, database, node, keys and queues, and say what to do; exit 1 where something fails
  quarantine  list | retry [KIND]: items that are left out because their work fails, with the error
  deploy      deploy the oracle, or the evaluator of verdicts, and write the deployment file
  escrow      list | allow | renew: the escrows whose jobs the evaluator settles
  keystore    create | address: encrypted files for the keys of roles
  roles       show | set-publisher | set-signer | remove-signer | transfer-ownership | accept-ownership
  backup      FILE: everything that is not derived from the chain, of one moment, while the service runs
  restore     FILE: fills an empty database from a backup
  prune       builds of the index that nobody uses; --yes drops them
  reset       clear the local data; --index only what is derived from the chain, with --yes where that is not the local one

ahs COMMAND --help says more of those that have actions or many options.
`;

const SHARED_OPTIONS = `
Options of every command: --data-dir DIR --database-url URL --rpc-url URL --deployment FILE --port NUMBER
Each can stand in the environment instead: AHS_DATA_DIR, DATABASE_URL, RPC_URL, AHS_DEPLOYMENT, PORT.
`;

const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import("./commands/up.ts")).up,
  devnet: async () => (await import("./commands/devnet.ts")).devnet,
  index: async () => withoutOptions((await import("./commands/index-chain.ts")).indexChain),
  serve: async () => withoutOptions((await import("./commands/serve.ts")).serveApi),
  work: async () => withoutOptions((await import("./commands/work.ts")).work),
  migrate: async () => (await import("./commands/migrate.ts")).migrate,
  keys: async () => (await import("./commands/keys.ts")).keys,
  score: async () => (await import("./commands/score.ts")).score,
  "verify-score": async () => (await import("./commands/verify-score.ts")).verify,
  deploy: async () => (await import("./commands/deploy.ts")).deploy,
  sanctions: async () => (await import("./commands/sanctions.ts")).sanctions,
  scan: async () => (await import("./commands/scan.ts")).scan,
  unfollow: async () => (await import("./commands/unfollow.ts")).unfollow,
  payments: async () => (await import("./commands/payments.ts")).payments,
  review: async () => (await import("./commands/review.ts")).review,
  escrow: async () => (await import("./commands/escrow.ts")).escrow,
  quarantine: async () => (await import("./commands/quarantine.ts")).quarantineCommand,
  keystore: async () => (await import("./commands/keystore.ts")).keystore,
  roles: async () => (await import("./commands/roles.ts")).roles,
  backup: async () => (await import("./commands/backup.ts")).backup,
  restore: async () => (await import("./commands/restore.ts")).restore,
  prune: async () => (await import("./commands/prune.ts")).prune,
  reset: async () => (await import("./commands/reset.ts")).reset,
};

/** What commands say of themselves; of the others the list says all. */
const USAGES: Readonly<Record<string, () => Promise<string>>> = {
  keys: async () => (await import("./commands/keys.ts")).USAGE,
  score: async () => (await import("./commands/score.ts")).USAGE,
  "verify-score": async () => (await import("./commands/verify-score.ts")).USAGE,
  deploy: async () => (await import("./deploy-options.ts")).DEPLOY_USAGE,
  sanctions: async () => (await import("./commands/sanctions.ts")).USAGE,
  scan: async () => (await import("./commands/scan.ts")).USAGE,
  unfollow: async () => (await import("./commands/unfollow.ts")).USAGE,
  payments: async () => (await import("./commands/payments.ts")).USAGE,
  review: async () => (await import("./commands/review.ts")).USAGE,
  escrow: async () => (await import("./commands/escrow.ts")).USAGE,
  keystore: async () => (await import("./commands/keystore.ts")).USAGE,
  roles: async () => (await import("./roles/role-change.ts")).ROLES_USAGE,
};

/** Commands that write a log, which tells what ended them as well. */
const LOGGING: ReadonlySet<string> = new Set(["devnet", "index", "serve", "work"]);

async function main(argv: readonly string[]): Promise<void> {
  const [name, ...rest] = argv;
  if (name === "help") return showUsage(rest[0]);
  if (argv.includes("--help") || argv.includes("-h")) return showUsage(name);
  if (name === "doctor") return examine(rest);
  const load = name === undefined ? undefined : COMMANDS[name];
  if (name === undefined || load === undefined) {
    const why = name === undefined ? "" : `unknown command "${name}"\n\n`;
    process.stderr.write(`${why}${USAGE}${SHARED_OPTIONS}`);
    process.exitCode = 2;
    return;
  }
  const { env, args } = applyOverrides(rest);
  const command = await load();
  const config = parseConfig(env);
  if (LOGGING.has(name)) await logFaults(config, name);
  await command({ config, args, out: (line) => process.stdout.write(`${line}\n`) });
}

async function showUsage(command: string | undefined): Promise<void> {
  const own = command === undefined ? undefined : await USAGES[command]?.();
  process.stdout.write(`${own === undefined ? USAGE : `${own}\n`}${SHARED_OPTIONS}`);
}

async function logFaults(config: Config, name: string): Promise<void> {
  const { createLogger } = await import("./process.ts");
  const logger = createLogger(config, name);
  endOnFault((error) => logger.fatal({ err: error }, "nobody caught this error: the process ends"));
}

/** The one command that reads the settings itself, since it is asked what is wrong with them. */
async function examine(argv: readonly string[]): Promise<void> {
  const { doctor } = await import("./commands/doctor.ts");
  const lines: string[] = [];
  const isHealthy = await doctor({ ...applyOverrides(argv), out: (line) => lines.push(line) });
  // What did not answer in time may hold connections: they must not keep the process.
  process.stdout.write(`${lines.join("\n")}\n`, () => process.exit(isHealthy ? 0 : 1));
}

/** A command that takes nothing but the options of every command, and refuses what else is given. */
function withoutOptions(command: Command): Command {
  return async (invocation) => {
    parseArgs({ args: [...invocation.args], options: {} });
    await command(invocation);
  };
}

function applyOverrides(argv: readonly string[]): { env: NodeJS.ProcessEnv; args: string[] } {
  const env = { ...process.env };
  const args: string[] = [];
  const { tokens } = parseArgs({ args: [...argv], strict: false, allowPositionals: true, tokens: true });
  const overridden = new Set<number>();
  for (const token of tokens) {
    if (token.kind !== "option" || !(token.name in OPTION_VARIABLES)) continue;
    const value = token.value ?? argv[token.index + 1];
    if (value === undefined) throw new Error(`${token.rawName} needs a value`);
    env[OPTION_VARIABLES[token.name as keyof typeof OPTION_VARIABLES]] = value;
    overridden.add(token.index);
    if (token.value === undefined) overridden.add(token.index + 1);
  }
  for (const [index, argument] of argv.entries()) if (!overridden.has(index)) args.push(argument);
  return { env, args };
}

/** The environment of a command that failed, whatever was wrong with its options. */
function environmentOf(argv: readonly string[]): NodeJS.ProcessEnv {
  try {
    return applyOverrides(argv).env;
  } catch {
    // An option without its value is told by the error that is being shown.
    return process.env;
  }
}

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // Whoever read the output has seen enough.
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

endOnFault(showFault);
main(process.argv.slice(2)).then(closeParentChannel, (error: unknown) => {
  showFault(error);
  // Open connections of a command that failed must not keep the process.
  process.exit(1);
});

function showFault(error: unknown): void {
  const shown = error instanceof Error ? error : new Error(String(error));
  const detail = process.env.LOG_LEVEL === "debug" ? shown.stack : shown.message;
  const scrub = createScrub(knownSecrets(environmentOf(process.argv.slice(3))));
  process.stderr.write(`ahs: ${scrub(detail ?? "")}\n`);
}

/** A channel to the process that started this one would keep it from ending. */
function closeParentChannel(): void {
  if (process.connected) process.disconnect();
}
