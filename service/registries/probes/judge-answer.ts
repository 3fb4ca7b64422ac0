import { z } from "zod";
import type { EndpointKind } from "../../db/tables/infrastructure.ts";
import type { FetchAnswer } from "../../net/exchange.ts";
import { isRecord, parseJson } from "../documents/fetch-agent-document.ts";

/** True if an endpoint served what its kind must serve; null if the answer does not show it. */
type Judgement = { readonly valid: boolean | null; readonly detail: string | null };

const UNJUDGED: Judgement = { valid: null, detail: null };
const VALID: Judgement = { valid: true, detail: null };
/** Statuses of resources that are missing, or gone for good. */
const ABSENT = new Set([404, 410]);

/**
 * Whether a service that answers so is up: any status is, refusals that ask for a key or a payment (401, 402, 403) too, but
 * 404 and 410, where there is nothing, and 5xx.
 */
export function isAlive(status: number): boolean {
  return status < 500 && !ABSENT.has(status);
}

/** Judges an answer by the kind of the endpoint. Refusals, redirects and errors show nothing about its service. */
export function judgeAnswer(kind: EndpointKind, answer: FetchAnswer): Judgement {
  if (answer.status === 402) return judgeChallenge(kind, answer);
  if (answer.status < 200 || answer.status > 299) return UNJUDGED;
  switch (kind) {
    case "a2a":
      return isAgentCard(parseJson(answer.body)) ? VALID : invalid("It serves no A2A agent card.");
    case "mcp":
      return isInitializeResult(rpcAnswer(answer))
        ? VALID
        : invalid("It does not answer initialize as an MCP server.");
    case "x402":
    case "other":
      return UNJUDGED;
  }
}

/** An endpoint declared as x402 must answer with its challenge; others may ask for payment in another way. */
function judgeChallenge(kind: EndpointKind, { headers }: FetchAnswer): Judgement {
  const header = headers.get("payment-required");
  if (header === undefined) {
    return kind === "x402" ? invalid("It asks for payment without an x402 v2 challenge.") : UNJUDGED;
  }
  const fault = readX402Challenge(header);
  return fault === null ? VALID : invalid(`Its x402 v2 challenge is broken: ${fault}.`);
}

/** Name and skills, and where the agent is reached: in one url up to version 0.3, in a list of interfaces since. */
function isAgentCard(card: unknown): boolean {
  if (!isRecord(card) || typeof card.name !== "string" || !Array.isArray(card.skills)) return false;
  const interfaces = card.supportedInterfaces;
  return typeof card.url === "string" || (Array.isArray(interfaces) && interfaces.length > 0);
}

function isInitializeResult(message: unknown): boolean {
  if (!isRecord(message) || message.jsonrpc !== "2.0" || !isRecord(message.result)) return false;
  const { protocolVersion, serverInfo } = message.result;
  return typeof protocolVersion === "string" && isRecord(serverInfo);
}

/** The JSON of an answer, or of the data of its first event. */
function rpcAnswer({ headers, body }: FetchAnswer): unknown {
  if (!/^text\/event-stream\b/i.test(headers.get("content-type") ?? "")) return parseJson(body);
  const lines = Buffer.from(body)
    .toString("utf8")
    .split(/\r\n|\r|\n/);
  const first = lines.findIndex((line) => line.startsWith("data:"));
  const event = lines.slice(first);
  const end = event.indexOf("");
  const data = (end === -1 ? event : event.slice(0, end)).filter((line) => line.startsWith("data:"));
  return parseJson(Buffer.from(data.map((line) => line.slice("data:".length).trim()).join("\n")));
}

function invalid(detail: string): Judgement {
  return { valid: false, detail };
}

/** PaymentRequired of x402 v2, as far as every scheme has it; members that are not known are let through. */
const challenge = z.object({
  x402Version: z.literal(2),
  resource: z.object({ url: z.string().min(1) }),
  accepts: z
    .array(
      z.object({
        scheme: z.string().min(1),
        network: z.string().regex(/^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/),
        amount: z.string().regex(/^\d{1,78}$/),
        asset: z.string().min(1),
        payTo: z.string().min(1),
        maxTimeoutSeconds: z.number().positive(),
      }),
    )
    .min(1),
});

/** Why the PAYMENT-REQUIRED header is no x402 v2 challenge (base64 of its JSON); null where it is one. */
export function readX402Challenge(header: string): string | null {
  const json = parseBase64Json(header.trim());
  if (json === undefined) return "the header is not base64 of JSON";
  const { error } = challenge.safeParse(json);
  if (error === undefined) return null;
  const [issue] = error.issues;
  return `${issue === undefined || issue.path.length === 0 ? "the challenge" : issue.path.join(".")} does not fit`;
}

function parseBase64Json(text: string): unknown {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? parseJson(Buffer.from(text, "base64")) : undefined;
}
