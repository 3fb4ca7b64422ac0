import { parseArgs } from "node:util";
import { type Config, OPTION_VARIABLES, parseConfig } from "./config.ts";
import { knownSecrets } from "./secrets/known-secrets.ts";
import { createScrub } from "./secrets/scrub.ts";

const USAGE = `Usage: npm run ahs -- COMMAND [options]

  up          start everything on this machine: chain, database, index, workers, API
  devnet      a local chain with our contracts and a simulated population
  index       follow the chain into the database
  serve       the HTTP API
  work        score, publish, nightly jobs
  migrate     bring the database schema to the newest version; --roles makes the roles of the processes
  keys        create | list | revoke API keys
  score       what the model says of one wallet, line by line with --explain; what another policy would move
  verify-score  compute a score again from a node and the files it names, and compare
  sanctions   import | status | check: the sanctions lists
  scan        run | list | show: scans of registries, documents and all scores, as each night
  payments    list | reconcile: what callers paid per call, against the chain
  review      list | show | decide: verdicts on HOLD, the longest held first
  doctor      look at settings, database, node, keys and queues, and say what to do; exit 1 where something fails
  deploy      deploy the oracle, or the evaluator of verdicts, and write the deployment file
  keystore    create | address: encrypted files for the keys of roles
  roles       show | set-publisher | set-signer | remove-signer | transfer-ownership | accept-ownership
  backup      FILE: everything that is not derived from the chain, of one moment, while the service runs
  restore     FILE: fills an empty database from a backup
  prune       builds of the index that nobody uses; --yes drops them
  reset       clear the local data (--index: only what is derived from the chain)

Options of every command: --data-dir DIR --database-url URL --rpc-url URL --deployment FILE --port NUMBER
Each can stand in the environment instead: AHS_DATA_DIR, DATABASE_URL, RPC_URL, AHS_DEPLOYMENT, PORT.
`;

export type Invocation = {
  readonly config: Config;
  /** What stands on the command line after the command, without the options that override the environment. */
  readonly args: readonly string[];
  readonly out: (line: string) => void;
};

export type Command = (invocation: Invocation) => Promise<void>;

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
  payments: async () => (await import("./commands/payments.ts")).payments,
  review: async () => (await import("./commands/review.ts")).review,
  keystore: async () => (await import("./commands/keystore.ts")).keystore,
  roles: async () => (await import("./commands/roles.ts")).roles,
  backup: async () => (await import("./commands/backup.ts")).backup,
  restore: async () => (await import("./commands/restore.ts")).restore,
  prune: async () => (await import("./commands/prune.ts")).prune,
  reset: async () => (await import("./commands/reset.ts")).reset,
};

async function main(argv: readonly string[]): Promise<void> {
  const [name, ...rest] = argv;
  if (name === "help" || argv.includes("--help") || argv.includes("-h")) {
    process.stdout.write(USAGE);
    return;
  }
  if (name === "doctor") return examine(rest);
  const load = name === undefined ? undefined : COMMANDS[name];
  if (load === undefined) {
    process.stderr.write(name === undefined ? USAGE : `unknown command "${name}"\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  const { env, args } = applyOverrides(rest);
  const command = await load();
  await command({ config: parseConfig(env), args, out: (line) => process.stdout.write(`${line}\n`) });
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

main(process.argv.slice(2)).then(closeParentChannel, (error: unknown) => {
  const shown = error instanceof Error ? error : new Error(String(error));
  const detail = process.env.LOG_LEVEL === "debug" ? shown.stack : shown.message;
  const scrub = createScrub(knownSecrets(environmentOf(process.argv.slice(3))));
  process.stderr.write(`ahs: ${scrub(detail ?? "")}\n`);
  // Open connections of a command that failed must not keep the process.
  process.exit(1);
});

/** A channel to the process that started this one would keep it from ending. */
function closeParentChannel(): void {
  if (process.connected) process.disconnect();
}
