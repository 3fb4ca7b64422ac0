import fc, { type Arbitrary } from "fast-check";
import {
  type DocumentedOperation,
  inlineSchema,
  memberOf,
} from "../../../service/api/document-operations.ts";
import type { ApiDocument } from "../../../service/api/openapi-document.ts";
import { HOSTILE_BODIES, HOSTILE_TEXTS } from "./hostile-values.ts";
import { type Known, valueFrom } from "./value-from-schema.ts";

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
/** What a header can carry: bytes without controls. */
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

/** Requests for one operation, made from its description alone; `known` are texts that mean something to the service. */
export function requestOf(
  { method, path, operation }: DocumentedOperation,
  document: ApiDocument,
  known: Known,
): Arbitrary<FuzzRequest> {
  const parameters = (operation.parameters ?? []).map((parameter): Parameter => {
    const { in: place, name, required, schema } = parameter as unknown as Parameter;
    return { in: place, name, required: required === true, schema: inlineSchema(schema, document) };
  });
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const inHeader = parameters.filter((parameter) => parameter.in === "header");
  return fc
    .record({
      path: fc.tuple(...inPath.map(({ schema }) => segment(schema, known))),
      query: fc.tuple(...inQuery.map((parameter) => pairs(parameter, known))),
      headers: fc.tuple(...inHeader.map(({ name }) => documentedHeader(name))),
      stray: fc.array(fc.tuple(fc.constantFrom(...STRAY_HEADERS), encodedText), { maxLength: 1 }),
      strange: fc.boolean(),
      body: bodyOf(memberOf(memberOf(operation, "requestBody"), "content"), document, known),
    })
    .map((drawn) => ({
      method,
      target: targetOf(path, inPath, drawn.path, drawn.query.flat()),
      headers: {
        ...Object.fromEntries(drawn.headers.flatMap((header) => (header === null ? [] : [header]))),
        ...(drawn.body === null ? {} : { "content-type": "application/json" }),
        ...(drawn.strange ? Object.fromEntries(drawn.stray) : {}),
      },
      body: method === "GET" ? null : drawn.body,
    }));
}

function targetOf(
  path: string,
  parameters: readonly Parameter[],
  segments: readonly string[],
  query: readonly string[],
): string {
  const filled = parameters.reduce(
    (target, { name }, index) => target.replace(`{${name}}`, () => segments[index] ?? ""),
    path,
  );
  return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
}

/** Mostly encoded as it should be, now and then as it is. */
function segment(schema: unknown, known: Known): Arbitrary<string> {
  const raw = hostileText
    .map((text) => text.replaceAll(/[^!-~]|[?#\\]/g, ""))
    .filter((text) => text.length > 0);
  return fc.oneof(
    { weight: 6, arbitrary: valueFrom(schema, known).map(encodedPart) },
    { weight: 2, arbitrary: hostileText.map(encodedPart) },
    { weight: 1, arbitrary: raw },
  );
}

function pairs({ name, required, schema }: Parameter, known: Known): Arbitrary<readonly string[]> {
  const pair = (value: unknown) => `${name}=${encodedPart(Array.isArray(value) ? value.join(",") : value)}`;
  const one = valueFrom(schema, known).map((value) => [pair(value)]);
  return fc.oneof(
    { weight: required ? 6 : 3, arbitrary: one },
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: hostileText.map((text) => [pair(text)]) },
    { weight: 1, arbitrary: fc.tuple(one, one).map(([first, second]) => [...first, ...second]) },
    { weight: 1, arbitrary: fc.constantFrom([name], [`${name}[]=1`], [`${name}[__proto__]=1`], ["&&=&"]) },
  );
}

/** A key of its own for most; the others meet each other, and are no keys at all. */
function documentedHeader(name: string): Arbitrary<readonly [string, string] | null> {
  const texts =
    name === "Idempotency-Key"
      ? fc.oneof(
          fc.uuid(),
          fc.uuid().map((uuid) => `"${uuid}"`),
          fc.constantFrom("again", '"again"'),
          headerText,
        )
      : encodedText;
  return fc.option(
    texts.map((text) => [name.toLowerCase(), text] as const),
    { freq: 2 },
  );
}

function bodyOf(content: unknown, document: ApiDocument, known: Known): Arbitrary<string | null> {
  const schema = memberOf(memberOf(content, "application/json"), "schema");
  if (schema === undefined) return fc.option(fc.constantFrom("{}", "null", "x"), { freq: 4, nil: null });
  return fc.oneof(
    {
      weight: 8,
      arbitrary: valueFrom(inlineSchema(schema, document), known).map((value) => JSON.stringify(value)),
    },
    { weight: 2, arbitrary: fc.constantFrom(...HOSTILE_BODIES) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

function encodedPart(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return encodeURIComponent(text.toWellFormed()).slice(0, 8_000);
}

function encoded(json: string): string {
  return Buffer.from(json).toString("base64").slice(0, 4_000);
}
