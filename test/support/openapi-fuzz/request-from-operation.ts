import fc, { type Arbitrary } from "fast-check";
import {
  type ApiDocument,
  type DocumentedOperation,
  inlineSchema,
  memberOf,
} from "../../../service/api/kit/openapi-document.ts";
import { HOSTILE_BODIES, HOSTILE_TEXTS } from "./hostile-values.ts";
import { type Drawing, valueFrom } from "./value-from-schema.ts";

/** A request as it is sent; header values are what a client can send at all. */
export type FuzzRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

type Parameter = {
  readonly in: string;
  readonly name: string;
  readonly required: boolean;
  readonly schema: unknown;
};

/** Headers that any request may carry, whether or not its operation says so. */
const STRAY_HEADERS = [
  "x-api-key",
  "payment-signature",
  "sign-in-with-x",
  "x-payment-claim",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "authorization",
  "x-request-id",
  "x-forwarded-for",
  "accept",
  "origin",
  "content-type",
];

const hostileText = fc.constantFrom(...HOSTILE_TEXTS);
/** Text that a header can carry: bytes without control characters. */
const headerText = hostileText
  .map((text) => text.replaceAll(/[^\t\x20-\x7e\xa1-\xff]/g, "?").trim())
  .filter((text) => text.length < 2_000);
/** JSON in base64, as payments and sign-ins come. */
const encodedText = fc.oneof(
  fc.json().map(encoded),
  fc
    .record({ x402Version: fc.constantFrom(1, 2, "2"), payload: fc.jsonValue(), accepted: fc.jsonValue() })
    .map((value) => encoded(JSON.stringify(value))),
  headerText,
);

/** Requests for one operation, made from its description alone: half of them as it wants them, half with hostile parts. */
export function requestFrom(
  operation: DocumentedOperation,
  document: ApiDocument,
  known: Drawing["known"],
): Arbitrary<FuzzRequest> {
  const sound = drawRequest(operation, document, { known, wildness: 0 });
  return fc.oneof(sound, drawRequest(operation, document, { known, wildness: 1 }));
}

function drawRequest(
  { method, path, operation }: DocumentedOperation,
  document: ApiDocument,
  drawing: Drawing,
): Arbitrary<FuzzRequest> {
  const parameters = (operation.parameters ?? []).map((parameter): Parameter => {
    const { in: place, name, required, schema } = parameter as unknown as Parameter;
    return { in: place, name, required: required === true, schema: inlineSchema(schema, document) };
  });
  const within = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const content = memberOf(memberOf(operation, "requestBody"), "content");
  const bodySchema = inlineSchema(memberOf(memberOf(content, "application/json"), "schema"), document);
  const names = within("path").map(({ name }) => name);
  return fc
    .record({
      path: fc.tuple(...within("path").map(({ schema }) => segment(schema, drawing))),
      query: fc.tuple(...within("query").map((parameter) => pairs(parameter, drawing))),
      headers: fc.tuple(...within("header").map(({ name }) => documentedHeader(name, drawing))),
      stray: fc.array(fc.tuple(fc.constantFrom(...STRAY_HEADERS), encodedText), {
        maxLength: 2 * drawing.wildness,
      }),
      body: bodyFrom(bodySchema, drawing),
    })
    .map((drawn) => ({
      method,
      target: targetOf(
        path,
        new Map(names.map((name, place) => [name, drawn.path[place] ?? ""])),
        drawn.query.flat(),
      ),
      headers: {
        ...Object.fromEntries(drawn.headers.flatMap((header) => (header === null ? [] : [header]))),
        ...(drawn.body === null ? {} : { "content-type": "application/json" }),
        ...Object.fromEntries(drawn.stray),
      },
      body: method === "GET" ? null : drawn.body,
    }));
}

function targetOf(path: string, segments: ReadonlyMap<string, string>, query: readonly string[]): string {
  const filled = path.replaceAll(/\{(.+?)\}/g, (_, name: string) => segments.get(name) ?? "");
  return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
}

/** Encoded as it should be, but for a wild one as it is. */
function segment(schema: unknown, drawing: Drawing): Arbitrary<string> {
  const raw = hostileText
    .map((text) => text.replaceAll(/[^!-~]|[?#\\]/g, ""))
    .filter((text) => text.length > 0);
  return fc
    .oneof(
      { weight: 6, arbitrary: valueFrom(schema, drawing).map(encodedPart) },
      { weight: 2 * drawing.wildness, arbitrary: hostileText.map(encodedPart) },
      { weight: drawing.wildness, arbitrary: raw },
    )
    .filter(staysBelow);
}

/** Whether a URL keeps the path before the segment. ".." makes another path, which may be a page. */
function staysBelow(segment: string): boolean {
  return new URL(`http://host/below/${segment}`).pathname.startsWith("/below/");
}

function pairs({ name, required, schema }: Parameter, drawing: Drawing): Arbitrary<readonly string[]> {
  const pair = (value: unknown) => `${name}=${encodedPart(Array.isArray(value) ? value.join(",") : value)}`;
  const one = valueFrom(schema, drawing).map((value) => [pair(value)]);
  const odd = fc.constantFrom([name], [`${name}[]=1`], [`${name}[__proto__]=1`], ["&&=&"]);
  return fc.oneof(
    { weight: 4, arbitrary: one },
    { weight: required ? drawing.wildness : 2, arbitrary: fc.constant([]) },
    { weight: drawing.wildness, arbitrary: hostileText.map((text) => [pair(text)]) },
    { weight: drawing.wildness, arbitrary: fc.tuple(one, one).map((both) => both.flat()) },
    { weight: drawing.wildness, arbitrary: odd },
  );
}

/** Wild values repeat one Idempotency-Key, or are no valid key. */
function documentedHeader(name: string, { wildness }: Drawing): Arbitrary<readonly [string, string] | null> {
  const isRepeatable = name === "Idempotency-Key";
  const usual = isRepeatable
    ? fc.oneof(
        fc.uuid(),
        fc.uuid().map((uuid) => `"${uuid}"`),
      )
    : null;
  const odd = isRepeatable ? fc.oneof(fc.constantFrom("again", '"again"'), headerText) : encodedText;
  const given = (texts: Arbitrary<string>) => texts.map((text) => [name.toLowerCase(), text] as const);
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 2 * wildness, arbitrary: given(odd) },
    ...(usual === null ? [] : [{ weight: 3, arbitrary: given(usual) }]),
  );
}

function bodyFrom(schema: unknown, drawing: Drawing): Arbitrary<string | null> {
  const { wildness } = drawing;
  const none = fc.constant(null);
  if (schema === undefined)
    return fc.oneof(
      { weight: 4, arbitrary: none },
      { weight: wildness, arbitrary: fc.constantFrom("{}", "null", "x") },
    );
  return fc.oneof(
    { weight: 8, arbitrary: valueFrom(schema, drawing).map((value) => JSON.stringify(value)) },
    { weight: 2 * wildness, arbitrary: fc.constantFrom(...HOSTILE_BODIES) },
    { weight: wildness, arbitrary: none },
  );
}

function encodedPart(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return encodeURIComponent(text.toWellFormed()).slice(0, 8_000);
}

function encoded(json: string): string {
  return Buffer.from(json).toString("base64").slice(0, 4_000);
}
