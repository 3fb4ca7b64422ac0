/** A turn of a conversation. */
export type Turn = { readonly role: "system" | "user" | "assistant"; readonly content: string };

/** A published chat template: how it writes turns, and the control tokens by which a server reads them back. */
export type ChatTemplate = {
  readonly name: string;
  readonly write: (turn: Turn) => string;
  /** Begins a turn; its first group is the name of the role, in the words of the template. */
  readonly opening: RegExp;
  /** Ends a turn. */
  readonly closing: RegExp;
  /** Every control token, as the server reads it. */
  readonly tokens: readonly string[];
};

/** Names of roles in templates. */
const ROLES: Readonly<Record<string, Turn["role"]>> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  model: "assistant",
};

/** `<|im_start|>role … <|im_end|>` and templates of that form. */
function framed(
  name: string,
  frame: { before: string; after: string; end: string; gemma?: boolean },
): ChatTemplate {
  const { before, after, end, gemma = false } = frame;
  const word = (role: Turn["role"]) => (gemma && role === "assistant" ? "model" : role);
  return {
    name,
    write: ({ role, content }) => `${before}${word(role)}${after}${content}${end}\n`,
    opening: new RegExp(`${quoted(before)}(system|developer|user|assistant|model)${quoted(after)}`, "g"),
    closing: new RegExp(quoted(end), "g"),
    tokens: [before, after.trim(), end].filter((token) => token !== ""),
  };
}

/** `<|role|> … ` with one token for each role. */
function named(name: string, names: Readonly<Record<Turn["role"], string>>, end = ""): ChatTemplate {
  const { system, user, assistant } = names;
  return {
    name,
    write: ({ role, content }) => `${names[role]}${content}${end}`,
    opening: new RegExp([system, user, assistant].map((token) => `(${quoted(token)})`).join("|"), "g"),
    closing: end === "" ? /(?!)/g : new RegExp(quoted(end), "g"),
    tokens: [system, user, assistant, end].filter((token) => token !== ""),
  };
}

function quoted(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&");
}

/** Facts of published templates, in the shape that separates turns; generation prompts and tools are left out. */
export const CHAT_TEMPLATES: readonly ChatTemplate[] = [
  framed("ChatML", { before: "<|im_start|>", after: "\n", end: "<|im_end|>" }),
  framed("Qwen", { before: "<|im_start|>", after: "\n", end: "<|im_end|>" }),
  framed("Phi 4", { before: "<|im_start|>", after: "<|im_sep|>", end: "<|im_end|>" }),
  framed("Llama 3", { before: "<|start_header_id|>", after: "<|end_header_id|>\n\n", end: "<|eot_id|>" }),
  framed("Llama 4", { before: "<|header_start|>", after: "<|header_end|>\n\n", end: "<|eot|>" }),
  framed("Harmony", { before: "<|start|>", after: "<|message|>", end: "<|end|>" }),
  framed("Gemma 3", { before: "<start_of_turn>", after: "\n", end: "<end_of_turn>", gemma: true }),
  framed("Gemma 4", { before: "<|turn>", after: "\n", end: "<turn|>", gemma: true }),
  named("EXAONE", { system: "[|system|]", user: "[|user|]", assistant: "[|assistant|]" }, "[|endofturn|]\n"),
  named("Mistral", { system: "[SYSTEM_PROMPT]", user: "[INST]", assistant: "[/INST]" }, "</s>"),
  named("DeepSeek", {
    system: "<｜begin▁of▁sentence｜>",
    user: "<｜User｜>",
    assistant: "<｜Assistant｜>",
  }),
  named("GLM", { system: "<|system|>\n", user: "<|user|>\n", assistant: "<|assistant|>\n" }),
  named("Phi 3", { system: "<|system|>\n", user: "<|user|>\n", assistant: "<|assistant|>\n" }, "<|end|>\n"),
  named(
    "Kimi",
    {
      system: "<|im_system|>system<|im_middle|>",
      user: "<|im_user|>user<|im_middle|>",
      assistant: "<|im_assistant|>assistant<|im_middle|>",
    },
    "<|im_end|>",
  ),
];

/** Reads the turns of a rendered text as a server of an open model does: control tokens count wherever they are. */
export function readTurns(template: ChatTemplate, rendered: string): readonly Turn[] {
  const openings = [...rendered.matchAll(template.opening)];
  return openings.map((opening, index) => {
    const from = opening.index + opening[0].length;
    const content = rendered.slice(from, openings[index + 1]?.index ?? rendered.length);
    return { role: roleOf(opening), content: content.replaceAll(template.closing, "") };
  });
}

/** By its word, or by its place among one token for each role. */
function roleOf(opening: RegExpMatchArray): Turn["role"] {
  const [, ...groups] = opening;
  const byWord = groups.length === 1 ? ROLES[groups[0] ?? ""] : undefined;
  const byPlace = (["system", "user", "assistant"] as const)[
    groups.findIndex((group) => group !== undefined)
  ];
  const role = byWord ?? byPlace;
  if (role === undefined) throw new Error(`expected a role, got ${opening[0]}`);
  return role;
}
