import { createHash } from "node:crypto";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import type { ClientBase } from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { z } from "zod";

/** begin: what the file is. table and end: of one table, around its rows as COPY text. whole: the last, which proves that none is missing. */
export type FrameKind = "begin" | "table" | "rows" | "end" | "whole";
export type Frame = { readonly kind: FrameKind; readonly payload: Buffer };
export type Frames = AsyncGenerator<Frame>;

const KINDS: readonly FrameKind[] = ["begin", "table", "rows", "end", "whole"];
const HEAD_BYTES = 5;
/** No writer makes longer ones: a longer one is a broken file, not a reason to take memory. */
const MAX_ROWS_BYTES = 64 * 1024 * 1024;
const MAX_JSON_BYTES = 1024 * 1024;

/** One byte of kind, four of length, then the payload. */
export function encodeFrame(kind: FrameKind, payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt8(KINDS.indexOf(kind), 0);
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

/** A frame of any kind but rows. */
export function encodeJson(kind: Exclude<FrameKind, "rows">, value: object): Buffer {
  return encodeFrame(kind, Buffer.from(JSON.stringify(value)));
}

/** Yields frames as they come; throws if the bytes are malformed or end within a frame. */
export async function* decodeFrames(chunks: AsyncIterable<Buffer>): Frames {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (let frame = firstFrame(held); frame !== null; frame = firstFrame(held)) {
      held = held.subarray(HEAD_BYTES + frame.payload.length);
      yield frame;
    }
  }
  if (held.length > 0) throw cutOff();
}

function firstFrame(bytes: Buffer): Frame | null {
  if (bytes.length < HEAD_BYTES) return null;
  const kind = KINDS[bytes.readUInt8(0)];
  const length = bytes.readUInt32BE(1);
  if (kind === undefined || length > (kind === "rows" ? MAX_ROWS_BYTES : MAX_JSON_BYTES))
    throw new Error("this is no file of ours, or a broken one");
  if (bytes.length < HEAD_BYTES + length) return null;
  return { kind, payload: bytes.subarray(HEAD_BYTES, HEAD_BYTES + length) };
}

/** The next frame; throws at the end. */
export async function nextFrame(frames: Frames): Promise<Frame> {
  const { value, done } = await frames.next();
  if (done === true) throw cutOff();
  return value;
}

function cutOff(): Error {
  return new Error("the file ends in the middle: it was cut off");
}

/** The content of a frame of that kind; throws for another kind, and where the content does not fit. */
export function parseFrame<Content>(
  frame: Frame,
  kind: Exclude<FrameKind, "rows">,
  schema: z.ZodType<Content>,
): Content {
  requireEqual("frame", kind, frame.kind);
  let json: unknown;
  try {
    json = JSON.parse(frame.payload.toString("utf8"));
  } catch (error) {
    throw new Error(`the file is broken: ${kind} is not JSON`, { cause: error });
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new Error(`the file is broken: ${kind}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

export function requireEqual(
  what: string,
  given: string | number | undefined,
  found: string | number | undefined,
): void {
  if (given !== found) throw new Error(`the file is broken: ${what} should be ${given}, and is ${found}`);
}

/** Before the rows of a table. */
export const tableSchema = z.object({
  table: z.string(),
  columns: z.array(z.string()),
  /** The column that counts by itself, with the number it gave out last; null without such a column or number. */
  identity: z.object({ column: z.string(), last: z.string().regex(/^\d{1,19}$/) }).nullable(),
});

/** Of one table, as its rows were written. */
export const countSchema = z.object({
  table: z.string(),
  rows: z.number(),
  /** SHA-256 of the rows as COPY text, hexadecimal. */
  sha256: z.string(),
});
export type TableCount = z.infer<typeof countSchema>;

/** A table of the database, its name and its schema's unquoted. */
export type Place = { readonly schema: string; readonly table: string };

/** Yields the rows of a table, or those that the SQL condition selects, as frames; returns what was written. */
export async function* writeTable(
  client: ClientBase,
  place: Place,
  condition = "true",
): AsyncGenerator<Buffer, TableCount> {
  const { table } = place;
  const columns = await readColumns(client, place);
  yield encodeJson("table", { table, columns, identity: await readIdentity(client, place) });
  const names = columns.map((column) => client.escapeIdentifier(column)).join(", ");
  const rows = condition === "true" ? `${nameOf(client, place)} (${names})` : null;
  const copied = rows ?? `(select ${names} from ${nameOf(client, place)} where ${condition})`;
  const copy = client.query(copyTo(`copy ${copied} to stdout`));
  const hash = createHash("sha256");
  for await (const chunk of copy as AsyncIterable<Buffer>) {
    hash.update(chunk);
    yield encodeFrame("rows", chunk);
  }
  const count: TableCount = { table, rows: copy.rowCount, sha256: hash.digest("hex") };
  yield encodeJson("end", count);
  return count;
}

/** Fills a table with the rows of its frames, and checks their number and digest. */
export async function readTable(
  client: ClientBase,
  place: Place,
  { begun, frames }: { readonly begun: z.infer<typeof tableSchema>; readonly frames: Frames },
): Promise<TableCount> {
  const { table } = place;
  const columns = begun.columns.map((column) => client.escapeIdentifier(column)).join(", ");
  const name = nameOf(client, place);
  const copy = client.query(copyFrom(`copy ${name} (${columns}) from stdin`));
  const done = finished(copy).catch((error: unknown) => {
    throw isOfRows(error) ? new Error(`the file is broken: rows of ${table}: ${error.message}`) : error;
  });
  // Awaited below; it must not count as unhandled when a frame fails first.
  done.catch(() => undefined);
  const hash = createHash("sha256");
  let frame = await nextFrame(frames);
  for (; frame.kind === "rows"; frame = await nextFrame(frames)) {
    hash.update(frame.payload);
    if (!copy.write(frame.payload)) await Promise.race([once(copy, "drain"), done]);
  }
  copy.end();
  await done;
  const count: TableCount = { table, rows: copy.rowCount, sha256: hash.digest("hex") };
  requireSame(parseFrame(frame, "end", countSchema), count);
  if (begun.identity !== null) {
    const { column, last } = begun.identity;
    // The next row gets a number that none had before, deleted ones among them.
    await client.query("select setval(pg_get_serial_sequence($1, $2), $3::bigint)", [name, column, last]);
  }
  return count;
}

/** Classes of PostgreSQL's errors that rows cause: data exceptions and violated constraints. */
function isOfRows(error: unknown): error is Error {
  return error instanceof Error && "code" in error && /^2[23]/.test(String(error.code));
}

/** Throws unless the tables that were restored are those that were written, with as many rows of the same digest. */
export function requireSameTables(given: readonly TableCount[], found: readonly TableCount[]): void {
  requireEqual("tables", given.length, found.length);
  given.forEach((table, index) => {
    requireSame(table, found[index]);
  });
}

function requireSame(given: TableCount, found: TableCount | undefined): void {
  requireEqual("table", given.table, found?.table);
  requireEqual(`rows of ${given.table}`, given.rows, found?.rows);
  requireEqual(`digest of ${given.table}`, given.sha256, found?.sha256);
}

/** Names of the columns of a table that hold values of their own, in their order. */
export async function readColumns(client: ClientBase, place: Place): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [nameOf(client, place)],
  );
  return rows.map(({ name }) => name);
}

async function readIdentity(client: ClientBase, place: Place) {
  const { rows } = await client.query<{ column: string; last: string | null }>(
    `select a.attname as column, pg_sequence_last_value(pg_get_serial_sequence($1, a.attname)::regclass)::text as last
     from pg_attribute a where a.attrelid = $1::regclass and a.attidentity <> ''`,
    [nameOf(client, place)],
  );
  const [row] = rows;
  return row === undefined || row.last === null ? null : { column: row.column, last: row.last };
}

/** Locks a table against other writers until the transaction ends; throws if it has rows. */
export async function takeEmpty(client: ClientBase, place: Place): Promise<void> {
  const name = nameOf(client, place);
  await client.query(`lock table ${name} in exclusive mode`);
  const { rowCount } = await client.query(`select 1 from ${name} limit 1`);
  if (rowCount !== 0) throw new Error(`${place.schema}.${place.table} has rows: expected an empty table`);
}

export function nameOf(client: Pick<ClientBase, "escapeIdentifier">, { schema, table }: Place): string {
  return `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(table)}`;
}
