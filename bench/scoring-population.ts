import { Client } from "pg";
import { WALLET_BOUNDS } from "../service/model/features/call-line.ts";
import { createIndexTables, createTransactionIndexes } from "../test/service/model/features/index-tables.ts";

/** Wallets of one size: so many, with so many calls each, named apart by their prefix. */
export type Population = { readonly prefix: string; readonly wallets: number; readonly calls: number };

const SCHEMA = "chain_31337";
const CHAIN_ID = 31_337;
const BLOCKS = 8_000;
const GENESIS = 1_767_571_200;
const SECONDS_PER_BLOCK = 972;
/** Contracts that everybody can call, and how many of them one wallet does. */
const PROTOCOLS = 200;
const PROTOCOLS_PER_WALLET = 12;
/** Users of each protocol that sampled blocks show; most of their calls go elsewhere. */
const STRANGERS = 50;
const PAYEES_PER_WALLET = 3;

/** SQL of the address with a name. */
const address = (name: string) =>
  `('0x' || substr(md5(${name}), 1, 20) || substr(md5('x' || ${name}), 1, 20))`;
const walletOf = (prefix: string, number: string) => address(`'${prefix}' || ${number}`);
const protocolOf = (number: string) => address(`'protocol' || (${number})`);
const USDC = address("'usdc'");
const FEED = address("'feed'");

/**
 * Fills a migrated database with a chain of 90 days that is enriched to its head: own calls stored block by block, as
 * enrichment stores them, with receipts; contacts, facts, approvals and prices as they follow from the calls.
 */
export async function seedScoring(databaseUrl: string, populations: readonly Population[]): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await createIndexTables(client, SCHEMA);
    await client.query(
      `insert into ${SCHEMA}.block
       select n, '0x' || md5('b' || n) || md5('h' || n), ${GENESIS} + n * ${SECONDS_PER_BLOCK}, 1000000000 from generate_series(0, $1::int) n`,
      [BLOCKS],
    );
    for (const population of populations) await seedWallets(client, population);
    await seedSurroundings(client);
    await createTransactionIndexes(client, SCHEMA);
    // Does the work that autovacuum and the checkpointer do in time.
    await client.query("vacuum (analyze)");
    await client.query("checkpoint");
  } finally {
    await client.end();
  }
}

/**
 * Adds wallets to a seeded chain, without facts of their payees. Lines are written for the newest calls alone: of more no
 * reader takes any, and the trigger would take most of the bench's time.
 */
export async function seedMoreWallets(databaseUrl: string, population: Population): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("set session_replication_role = replica");
    await seedWallets(client, population);
    await client.query("set session_replication_role = default");
    await client.query(
      `update ahs.own_call set line = null from (
         select wallet, block from ahs.own_call where chain_id = ${CHAIN_ID} and wallet = ${walletOf(population.prefix, "1")}
         order by block desc limit 1 offset least($1::int, $2::int) - 1
       ) oldest
       where chain_id = ${CHAIN_ID} and own_call.wallet = oldest.wallet and own_call.block >= oldest.block`,
      [population.calls, 2 * WALLET_BOUNDS.calls],
    );
    await client.query("vacuum (analyze) ahs.own_call");
  } finally {
    await client.end();
  }
}

/** The deployment facts that the seeded chain is scored with. */
export async function marketOf(databaseUrl: string) {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(`select ${USDC} as usdc, ${FEED} as feed`);
  await client.end();
  const [{ usdc, feed }] = rows as [{ usdc: `0x${string}`; feed: `0x${string}` }];
  return {
    market: {
      native: { symbol: "ETH", decimals: 18, feed },
      wrappedNative: null,
      tokens: [{ address: usdc, symbol: "USDC", decimals: 6, feed }],
    },
    accounts: { entryPoints: [], publicFunders: [], mixers: [], venues: [], vettedServices: [] },
  };
}

async function seedWallets(client: Client, { prefix, wallets, calls }: Population): Promise<void> {
  const wallet = walletOf(prefix, "w");
  await client.query(
    `insert into ${SCHEMA}.wallet
     select ${wallet}, 'registered', 0, $2, 0, 0, $3, 0, $3 from generate_series(1, $1::int) w`,
    [wallets, calls, BLOCKS],
  );
  await client.query(
    `insert into ahs.enrich_wallet select ${CHAIN_ID}, ${wallet}, 0, null, null from generate_series(1, $1::int) w`,
    [wallets],
  );
  await client.query(
    `insert into ${SCHEMA}.transaction
     select '0x' || md5('${prefix}' || w) || md5('n' || w), 1, 0, ${GENESIS}, ${wallet}, null, 0, 0, '0x', null, 21000, 21000,
       1000000000, 1000000000, true, null, true from generate_series(1, $1::int) w`,
    [wallets],
  );
  await seedCalls(client, { prefix, wallets, calls });
  await client.query(
    `insert into ahs.enrich_approval (chain_id, owner, token, kind, subject, own, block, log_index, transaction_hash,
       timestamp, spender, amount, token_id, approved)
     select ${CHAIN_ID}, ${wallet}, ${USDC}, 'amount', ${protocolOf("w % 20")}, true, 1, w, '0x01', ${GENESIS},
       ${protocolOf("w % 20")}, 2::numeric ^ 256 - 1, null, true
     from generate_series(1, $1::int, 3) w`,
    [wallets],
  );
}

/** One call in five pays one of the wallet's payees, the others go to one of its protocols and swap. */
async function seedCalls(client: Client, { prefix, wallets, calls }: Population): Promise<void> {
  await client.query(
    `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp, "to",
       selector, value, ok, gas_limit, gas_used, gas_price_wei, fee_wei, l1_fee_wei, recipient, amount, market_price_wei,
       effect, logs, emitters, moves)
     select ${CHAIN_ID}, ${walletOf(prefix, "w")}, block, n % 1000, 0, '0x' || md5('${prefix}' || n) || md5('t' || n),
       'transaction', 'enrich', ${GENESIS} + block * ${SECONDS_PER_BLOCK},
       case when pays then ${USDC} else protocol end, case when pays then '0xa9059cbb' else '0x38ed1739' end, 0, ok, 100000,
       40000 + n % 30000, 1000000000 + n % 97, (40000 + n % 30000)::numeric * (1000000000 + n % 97), 1000 + n % 7,
       case when pays then payee end, case when pays then 1000000 + n end, 1000000000,
       case when not ok then 'none' when pays then 'transfer' else 'other' end, 2,
       case when not ok then '{}' when pays then array[${USDC}] else array[${USDC}, protocol] end,
       case when not ok then '{}' when pays then array[${USDC} || ':-' || (1000000 + n)]
         else array[${USDC} || ':' || (5000000 + n % 1000)] end
     from (
       select n, w, block, n % 23 <> 0 as ok, i % 5 = 0 as pays,
         ${protocolOf(`(w * 7 + (i % ${PROTOCOLS_PER_WALLET}) * 17) % ${PROTOCOLS}`)} as protocol,
         ${address(`'payee' || '${prefix}' || w || (i % ${PAYEES_PER_WALLET})`)} as payee
       from (select n, n % $1::int + 1 as w, n / $1::int as i, n::bigint * ${BLOCKS} / ($1::bigint * $2) as block
             from generate_series(0, $1::int * $2::int - 1) n) as placed
     ) as sent`,
    [wallets, calls],
  );
}

/** Who knows whom, and what is known of them. */
async function seedSurroundings(client: Client): Promise<void> {
  await client.query(
    `insert into ahs.contact
     select ${CHAIN_ID}, counterparty, wallet, count(*), count(*) * 1000000, min(block), min(timestamp), max(block), max(timestamp)
     from (select wallet, coalesce(recipient, "to") as counterparty, block, timestamp from ahs.own_call) met
     group by counterparty, wallet`,
  );
  await client.query(
    `insert into ahs.sampled_contact
     select ${CHAIN_ID}, counterparty, ${address("'stranger' || p || '-' || s")}, calls, 1, ${GENESIS}, $1::int,
       ${GENESIS} + $1::int * ${SECONDS_PER_BLOCK}
     from generate_series(0, ${PROTOCOLS - 1}) p, generate_series(1, ${STRANGERS}) s,
       lateral (values (${protocolOf("p")}, 2), (${address("'elsewhere'")}, 18)) as called (counterparty, calls)`,
    [BLOCKS],
  );
  await client.query(
    `insert into ahs.account_fact
     select ${CHAIN_ID}, account, bool_or(code), null, ${address("'funder' || account")}, 1, min(since), 'index', 1
     from (select "to" as account, true as code, ${GENESIS} - 90 * 86400 as since from ahs.own_call
           union select recipient, false, ${GENESIS} from ahs.own_call where recipient is not null
           union select wallet, false, ${GENESIS} from ahs.own_call) known
     group by account`,
  );
  await client.query(
    `insert into ahs.feed_price select ${CHAIN_ID}, ${FEED}, ${GENESIS / 86_400} + day, 1, 200000000000 + day, 8
     from generate_series(0, 90) day`,
  );
  const { rows } = await client.query(`select hash, timestamp from ${SCHEMA}.block where number = $1`, [
    BLOCKS,
  ]);
  const [{ hash, timestamp }] = rows as [{ hash: string; timestamp: string }];
  await client.query("insert into ahs.enrich_cursor values ($1, $2, $3)", [CHAIN_ID, BLOCKS, hash]);
  const digits = (value: number | string, length: number) => String(value).padStart(length, "0");
  const checkpoint = `${digits(timestamp, 10)}${digits(CHAIN_ID, 16)}${digits(BLOCKS, 16)}${"9".repeat(33)}`;
  await client.query(`insert into ${SCHEMA}._ponder_checkpoint values ('local', $1, $2, $2, $2)`, [
    CHAIN_ID,
    checkpoint,
  ]);
}
