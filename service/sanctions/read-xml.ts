import { TextDecoder } from "node:util";
import { SaxesParser } from "saxes";
import { RefusedList } from "./refused-list.ts";

/** What a document says, in its order; names without their namespace prefix. */
export type XmlEvents = {
  readonly open: (name: string, attributes: Readonly<Record<string, string>>) => void;
  readonly text: (text: string) => void;
  readonly close: (name: string) => void;
};

/** Far above what a list has: it nests about 10 deep with about 10 attributes at most, and its longest text is a remark. */
const MAX_DEPTH = 64;
const MAX_ATTRIBUTES = 64;
const MAX_NAME_CHARACTERS = 256;
const MAX_TOKEN_CHARACTERS = 1 << 20;

/**
 * Reads a UTF-8 XML document piece by piece, holding no more than the open elements and one token of at most 1 MiB. Throws a
 * RefusedList when it is not well-formed, ends too early, declares a document type (the only way to define entities), or is
 * out of all proportion; and whatever the bytes or the events throw.
 */
export async function readXml(bytes: AsyncIterable<Uint8Array>, events: XmlEvents): Promise<void> {
  const reader = boundedParser(events);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of bytes) reader.write(decode(decoder, chunk));
  reader.write(decode(decoder, null));
  reader.close();
}

function decode(decoder: TextDecoder, chunk: Uint8Array | null): string {
  try {
    return chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (cause) {
    throw new RefusedList("it is not UTF-8 text", { cause });
  }
}

function boundedParser(events: XmlEvents) {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
  let depth = 0;
  let attributes = 0;
  /** Characters since something was complete. */
  let pending = 0;
  const progress = () => {
    pending = 0;
  };
  parser.on("error", (fault) => {
    throw new RefusedList(`it is not well-formed XML, or not whole: ${fault.message.slice(0, 200)}`);
  });
  parser.on("xmldecl", ({ encoding }) => {
    if (encoding !== undefined && !/^utf-8$/i.test(encoding))
      throw new RefusedList(`its encoding is ${encoding.slice(0, 20)}, not UTF-8`);
  });
  parser.on("doctype", () => {
    throw new RefusedList("it declares a document type, which no such list does");
  });
  parser.on("opentagstart", ({ name }) => {
    progress();
    if (name.length > MAX_NAME_CHARACTERS)
      throw new RefusedList(`an element's name is longer than ${MAX_NAME_CHARACTERS} characters`);
    attributes = 0;
    depth += 1;
    if (depth > MAX_DEPTH) throw new RefusedList(`its elements are nested deeper than ${MAX_DEPTH}`);
  });
  parser.on("attribute", () => {
    progress();
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES)
      throw new RefusedList(`an element has more than ${MAX_ATTRIBUTES} attributes`);
  });
  parser.on("opentag", (tag) => {
    progress();
    events.open(localName(tag.name), tag.attributes);
  });
  parser.on("closetag", (tag) => {
    progress();
    depth -= 1;
    events.close(localName(tag.name));
  });
  parser.on("text", events.text);
  parser.on("cdata", (text) => {
    progress();
    events.text(text);
  });
  parser.on("comment", progress);
  parser.on("processinginstruction", progress);
  return {
    write(text: string): void {
      pending += text.length;
      parser.write(text);
      if (pending > MAX_TOKEN_CHARACTERS)
        throw new RefusedList(`a name, value or text is longer than ${MAX_TOKEN_CHARACTERS} characters`);
    },
    close(): void {
      parser.close();
    },
  };
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}
