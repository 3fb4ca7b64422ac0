import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, isIPv6, type LookupFunction, type Socket } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import {
  type FetchAnswer,
  type FetchFailure,
  type FetchFailureReason,
  fetchFailure,
  type GuardedRequest,
} from "./exchange.ts";
import type { Target } from "./read-target.ts";

type PinnedRequest = {
  readonly request: GuardedRequest;
  readonly target: Target;
  /** Checked addresses of the target: the only ones that are connected to. */
  readonly addresses: readonly string[];
  readonly signal: AbortSignal;
  /** PEM certificates trusted instead of the public authorities. */
  readonly ca: string | undefined;
};

/** How far a connection came: its errors mean different things before and after the handshake. */
type Progress = { connected: boolean; secured: boolean; error: Error | null };

const MAX_BODY_BYTES = 65_536;
const MAX_HEADER_BYTES = 16_384;
/** A host far away needs longer for a handshake than the default of 250 ms. */
const NEXT_ADDRESS_AFTER_MS = 2_000;
/** They decide the receiver and the end of the message. */
const CONNECTION_HEADERS = new Set([
  "host",
  "connection",
  "transfer-encoding",
  "content-length",
  "accept-encoding",
  "expect",
  "upgrade",
]);

export type OpenAnswer = {
  readonly kind: "open";
  readonly message: IncomingMessage;
  /** Error of the connection so far. A body without a length looks whole however its connection ended. */
  readonly fault: () => Error | null;
  /** The failure that an error of the connection or of the body means. */
  readonly failureOf: (error: unknown) => FetchFailure;
  /** Ends the connection; every answer needs it. */
  readonly close: () => void;
};

/**
 * Sends one request over one connection of its own to one of the given addresses, with the target's name in the Host
 * header, in the TLS handshake and in the check of the certificate; never resolves a name and never follows a redirect.
 */
export async function openPinned(pinned: PinnedRequest): Promise<OpenAnswer | FetchFailure> {
  const { request, signal } = pinned;
  if (signal.aborted) return fetchFailure("timeout");
  const progress: Progress = { connected: false, secured: false, error: null };
  const sent = open(pinned);
  watch(sent, progress, pinned.target.secure);
  const failureOf = (error: unknown) => fetchFailure(signal.aborted ? "timeout" : reasonOf(error, progress));
  const close = () => {
    sent.destroy();
  };
  try {
    const message = await headOf(sent, request.body);
    return { kind: "open", message, fault: () => progress.error, failureOf, close };
  } catch (error) {
    close();
    return failureOf(error);
  }
}

/** Sends one request as `openPinned` does and reads the whole answer, of at most 64 KiB. */
export async function requestPinned(pinned: PinnedRequest): Promise<FetchAnswer | FetchFailure> {
  const { request } = pinned;
  const opened = await openPinned(pinned);
  if (opened.kind === "failed") return opened;
  const { message } = opened;
  try {
    if (request.part === "start") {
      const { bytes, ended } = await readStart(message, MAX_BODY_BYTES);
      const broken = ended ? opened.fault() : null;
      if (broken !== null) throw broken;
      return answered(message, bytes);
    }
    if (statedLength(message, request) > MAX_BODY_BYTES) return fetchFailure("too_large");
    const body = await readBody(message, {
      maxBytes: MAX_BODY_BYTES,
      decompress: request.decompress === true,
    });
    if (body.kind === "failed") return body;
    const fault = opened.fault();
    if (fault !== null) throw fault;
    return answered(message, body.bytes);
  } catch (error) {
    return opened.failureOf(error);
  } finally {
    opened.close();
  }
}

function answered(message: IncomingMessage, body: Uint8Array): FetchAnswer {
  return { kind: "answered", status: message.statusCode ?? 0, headers: headersOf(message), body };
}

function open({ request, target, addresses, signal, ca }: PinnedRequest): ClientRequest {
  const options = {
    host: target.host,
    port: target.port,
    path: target.path,
    method: request.method ?? "GET",
    headers: headersFor(request),
    // A connection of its own: none is shared with another request, and no proxy of the environment is used.
    agent: false,
    lookup: lookupIn(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    signal,
  } as const;
  if (!target.secure) return httpRequest(options);
  return httpsRequest({
    ...options,
    // Said outright: an environment variable can turn the default off.
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    servername: isIP(target.host) === 0 ? target.host : "",
    ...(ca === undefined ? {} : { ca }),
  });
}

function headersFor({ headers = {}, body, decompress }: GuardedRequest): Record<string, string> {
  const own = Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name.toLowerCase()));
  return {
    accept: "*/*",
    "user-agent": "agent-health",
    ...Object.fromEntries(own),
    "accept-encoding": decompress === true ? "gzip, deflate, br" : "identity",
    connection: "close",
    ...(body === undefined ? {} : { "content-length": String(body.length) }),
  };
}

/** In place of DNS: the addresses that were checked, and no others. */
function lookupIn(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_name, { all }, callback) => {
    const [first] = found;
    if (all === true) callback(null, found);
    else callback(null, first?.address ?? "", first?.family);
  };
}

function watch(sent: ClientRequest, progress: Progress, secure: boolean): void {
  sent.once("error", (error) => {
    progress.error = error;
  });
  sent.once("socket", (socket: Socket) => {
    socket.once("connect", () => {
      progress.connected = true;
    });
    socket.once(secure ? "secureConnect" : "connect", () => {
      progress.secured = true;
    });
  });
}

function headOf(sent: ClientRequest, body: Uint8Array | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once("response", resolve);
    // Stays: an error after the answer began also reaches the answer's own stream.
    sent.on("error", reject);
    sent.once("upgrade", (_answer, socket) => {
      socket.destroy();
      reject(Object.assign(new Error("the protocol was switched unasked"), { code: "HPE_UPGRADE" }));
    });
    sent.once("close", () => reject(new Error("closed without an answer")));
    sent.end(body);
  });
}

/** Bytes of body that the answer says will follow; zero where it says nothing, or to HEAD, when none do. */
function statedLength({ headers }: IncomingMessage, { method }: GuardedRequest): number {
  return method === "HEAD" ? 0 : Number(headers["content-length"] ?? 0);
}

function headersOf(answer: IncomingMessage): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    if (values !== undefined) headers.set(name, values.join(", "));
  }
  return headers;
}

function reasonOf(error: unknown, { connected, secured }: Progress): FetchFailureReason {
  const code = String((error as NodeJS.ErrnoException).code);
  if (code === "HPE_HEADER_OVERFLOW") return "too_large";
  if (code.startsWith("HPE_")) return "malformed_answer";
  if (/^(ERR_SSL|ERR_TLS|EPROTO)/.test(code)) return "tls";
  // Certificate faults have a code of OpenSSL each, and all come between the two events; a reset may come then too.
  const brokeOff = code === "ECONNRESET" || code === "EPIPE";
  return connected && !secured && !brokeOff ? "tls" : "connection";
}

type Body = { readonly kind: "body"; readonly bytes: Uint8Array };

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

/**
 * Reads the body of an answer up to the limits; bytes are counted as they arrive and again as they are decompressed, so
 * that neither an endless body nor a bomb is ever held. Rejects with the stream's error when the connection breaks.
 */
async function readBody(
  answer: IncomingMessage,
  limits: {
    /** Most bytes received, and most bytes once decompressed. */
    readonly maxBytes: number;
    /** Whether the content encoding is undone; otherwise the bytes are given as they came. */
    readonly decompress: boolean;
  },
): Promise<Body | FetchFailure> {
  const received = counted(answer, limits.maxBytes);
  const encoding = answer.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (!limits.decompress || encoding === "identity") return toBody(await gather(received));
  if (!isKnown(encoding)) return fetchFailure("malformed_answer");
  const compressed = await gather(received);
  return compressed === null ? fetchFailure("too_large") : decompress(compressed, encoding, limits.maxBytes);
}

async function decompress(
  compressed: Uint8Array,
  encoding: keyof typeof DECODERS,
  maxBytes: number,
): Promise<Body | FetchFailure> {
  // An answer without a body, as to HEAD, has nothing to undo.
  if (compressed.length === 0) return { kind: "body", bytes: compressed };
  const decoder = DECODERS[encoding]();
  decoder.end(compressed);
  try {
    return toBody(await gather(counted(decoder, maxBytes)));
  } catch {
    // On any error of the decoder the bytes do not match their header.
    return fetchFailure("malformed_answer");
  }
}

function isKnown(encoding: string): encoding is keyof typeof DECODERS {
  return Object.hasOwn(DECODERS, encoding);
}

/**
 * The first bytes of an answer, as they come: at most so many, and of an event stream no more than its first event, since
 * such a stream need not end. Rejects with the stream's error when the connection breaks before.
 */
async function readStart(
  answer: IncomingMessage,
  maxBytes: number,
): Promise<{ bytes: Uint8Array; ended: boolean }> {
  const isEventStream = /^text\/event-stream\b/i.test(answer.headers["content-type"]?.trim() ?? "");
  const endsEvent = eventWatcher();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maxBytes || (isEventStream && endsEvent(chunk))) {
      return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), ended: false };
    }
  }
  return { bytes: Buffer.concat(chunks), ended: true };
}

/** Returns for each chunk whether the first event with data ends in it; reads every byte once. */
function eventWatcher(): (chunk: Buffer) => boolean {
  let tail = "";
  let hasData = false;
  return (chunk) => {
    let text = tail + chunk.toString("latin1");
    if (!hasData) {
      const at = text.indexOf("data:");
      hasData = at !== -1;
      text = hasData ? text.slice(at) : text;
    }
    tail = text.slice(-4);
    return hasData && /\n\n|\r\r|\r\n\r\n/.test(text);
  };
}

/** Chunks as long as they fit, and null once they do not; leaving the loop destroys the stream. */
async function* counted(stream: Readable, maxBytes: number): AsyncGenerator<Buffer | null> {
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) {
      yield null;
      return;
    }
    yield chunk;
  }
}

async function gather(chunks: AsyncIterable<Buffer | null>): Promise<Uint8Array | null> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) {
    if (chunk === null) return null;
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

function toBody(bytes: Uint8Array | null): Body | FetchFailure {
  return bytes === null ? fetchFailure("too_large") : { kind: "body", bytes };
}
