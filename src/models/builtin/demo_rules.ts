/**
 * What the built-in demo understands: plain requests in English, found by pattern. Each becomes an intent: what to
 * think, what to say first, and which tool calls to make one after the other.
 */

export interface DemoCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A finished call of this request. */
export interface DoneCall extends DemoCall {
  /** Parsed when the result is a JSON object. */
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly text: string;
}

export interface Intent {
  readonly kind: string;
  readonly thought: string;
  readonly intro: string;
  /** The next call, or `null` when it is time to sum up. */
  next(done: readonly DoneCall[]): DemoCall | null;
  /** A fixed answer instead of a summary of results. */
  readonly answer?: string;
}

type Rule = (text: string) => Intent | null;

const QUOTED = "(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`|“([^”]*)”)";

function pick(match: RegExpExecArray, from: number, count: number): string {
  for (let at = from; at < from + count; at++) if (match[at] !== undefined) return match[at]!;
  return "";
}

/** A path as people write it: quotes and a final full stop taken off. */
function pathOf(text: string): string {
  const bare = text.trim().replace(/^(the )?file /i, "").replace(/^["'`“]|["'`”]$/g, "");
  return bare.replace(/[.,;!?]+$/, "");
}

function oneCall(kind: string, thought: string, intro: string, call: DemoCall): Intent {
  return { kind, thought, intro, next: (done) => done.length === 0 ? call : null };
}

function said(kind: string, thought: string, answer: string): Intent {
  return { kind, thought, intro: "", next: () => null, answer };
}

const listFiles: Rule = (text) => {
  const match =
    /^(?:(?:list|show)(?: me)?(?: all)?(?: the| my)? (?:files|directory|folder)|ls|what(?: files)? (?:is|are) (?:here|there|in (?:this|the) (?:workspace|folder|directory|project)))(?:\s+(?:in|of|under)?\s*(.+))?$/i
      .exec(text);
  if (!match) return null;
  const path = pathOf(match[1] ?? "") || ".";
  const where = /^(here|this (folder|directory))$/i.test(path) ? "." : path;
  const there = where === "." ? "here" : `in ${where}`;
  return oneCall("list", `A list of the files ${there} is wanted.`, `Let me look at the files ${there}.`, {
    name: "search_files",
    args: { pattern: "*", target: "files", path: where },
  });
};

const readFile: Rule = (text) => {
  const match = /^(?:read|show(?: me)?|open|cat|print)\s+(.+)$/i.exec(text);
  const path = match ? pathOf(match[1]!) : "";
  // "show me something" is not a file; a name with a dot or a slash is.
  if (!match || /\s/.test(path) || (!/[./]/.test(path) && !/^(read|cat|open)\b/i.test(text))) return null;
  return oneCall("read", `The content of ${path} is wanted.`, `I will read ${path}.`, {
    name: "read_file",
    args: { path },
  });
};

const search: Rule = (text) => {
  const match = new RegExp(
    `^(?:search|find|grep|look)(?: for)?\\s+(?:${QUOTED}|(.+?))(?:\\s+in\\s+(\\S+))?$`,
    "i",
  )
    .exec(text);
  if (!match) return null;
  const wanted = pick(match, 1, 5).trim();
  const path = pathOf(match[6] ?? "") || ".";
  const pattern = wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return oneCall("search", `I have to find "${wanted}" in ${path}.`, `I will search for "${wanted}".`, {
    name: "search_files",
    args: { pattern, path },
  });
};

/** An existing file must have been read before it may be overwritten, so a refusal leads to a read and a second try. */
const writeFile: Rule = (text) => {
  const to = new RegExp(
    `^(?:write|put|save)\\s+(?:${QUOTED}|(.+?))\\s+(?:to|into|in)\\s+(?:the file )?(\\S+)$`,
    "is",
  )
    .exec(text);
  const create = new RegExp(
    `^create\\s+(?:a |the )?(?:file )?(\\S+)\\s+(?:with|containing)\\s+(?:the text |content )?(?:${QUOTED}|(.+))$`,
    "is",
  ).exec(text);
  if (!to && !create) return null;
  const content = to ? pick(to, 1, 5) : pick(create!, 2, 5);
  const path = pathOf(to ? to[6]! : create![1]!);
  const write = {
    name: "write_file",
    args: { path, content: content.endsWith("\n") ? content : `${content}\n` },
  };
  return {
    kind: "write",
    thought: `A text of ${content.length} characters has to go into ${path}.`,
    intro: `I will write ${path}.`,
    next: (done) => {
      const [first, second] = done;
      if (!first) return write;
      const unseen = done.length === 1 && first.result?.["error"] &&
        /read/i.test(String(first.result["error"]));
      if (unseen) return { name: "read_file", args: { path } };
      return done.length === 2 && second?.name === "read_file" && !second.result?.["error"] ? write : null;
    },
  };
};

const replaceText: Rule = (text) => {
  const match = new RegExp(
    `^(?:replace|change)\\s+(?:${QUOTED}|(.+?))\\s+(?:by|with|to)\\s+(?:${QUOTED}|(.+?))\\s+in\\s+(?:the file )?(\\S+)$`,
    "is",
  ).exec(text);
  if (!match) return null;
  const [old, fresh, path] = [pick(match, 1, 5), pick(match, 6, 5), pathOf(match[11]!)];
  return {
    kind: "replace",
    thought: `In ${path}, "${old}" has to become "${fresh}". I read the file first, then I patch it.`,
    intro: `I will replace "${old}" by "${fresh}" in ${path}.`,
    next: (done) => {
      if (done.length === 0) return { name: "read_file", args: { path } };
      if (done.length > 1 || done[0]?.result?.["error"]) return null;
      return { name: "patch", args: { path, old_string: old, new_string: fresh, replace_all: true } };
    },
  };
};

const runCommand: Rule = (text) => {
  const match = new RegExp(`^(?:run|execute)(?:(?: the)? command)?:?\\s+(?:(?:the )?${QUOTED}|(.+))$`, "is")
    .exec(
      text,
    );
  if (!match) return null;
  const command = pick(match, 1, 5).trim();
  // "Run the tests and …" is a wish, not a command.
  if (match[5] !== undefined && /^(the|all|my|your|this|these|it|some)\b/i.test(command)) return null;
  return oneCall("run", `The command is: ${command}`, `I will run \`${command}\`.`, {
    name: "terminal",
    args: { command },
  });
};

const plan: Rule = (text) => {
  const match = /^(?:make |write |show )?(?:me )?(?:a |the )?plan(?: for| to)?:?\s*(.*)$/is.exec(text);
  if (!match) return null;
  const goal = match[1]?.trim() || "the work";
  const todos = [
    { id: "1", content: `Understand: ${goal}`, status: "in_progress" },
    { id: "2", content: "Make the change in small steps", status: "pending" },
    { id: "3", content: "Check the result", status: "pending" },
  ];
  return oneCall("plan", "A plan has three steps: understand, change, check.", "Here is a plan.", {
    name: "todo",
    args: { todos },
  });
};

const askMe: Rule = (text) => {
  const match = /^ask me(?: (?:something|a question|about))?:?\s*(.*)$/is.exec(text);
  if (!match) return null;
  const topic = match[1]?.trim().replace(/\?$/, "");
  return oneCall("ask", "The user wants to be asked.", "I have a question for you.", {
    name: "clarify",
    args: topic
      ? { question: `${topic}?` }
      : { question: "Which colour do you like best?", choices: ["Red", "Green", "Blue"] },
  });
};

const remember: Rule = (text) => {
  const match = /^remember(?: that)?:?\s+(.+)$/is.exec(text);
  if (!match) return null;
  const fact = match[1]!.trim();
  return oneCall("remember", `To be remembered: ${fact}`, "I will remember that.", {
    name: "memory",
    args: { action: "add", target: "user", content: fact },
  });
};

const thinkAloud: Rule = (text) => {
  const match = /^think(?: aloud| out loud)?(?: about)?:?\s*(.*)$/is.exec(text);
  if (!match) return null;
  const topic = match[1]?.trim() || "this";
  const thought = [
    `What is asked? To think about ${topic}.`,
    "What do I know? I am a set of rules, so I know only what the rules say.",
    "What follows? I can show how thinking is streamed, and then answer.",
  ].join("\n");
  return said(
    "think",
    thought,
    `I have thought about ${topic}. The thinking itself was streamed before this answer.`,
  );
};

const WORDS = "the quick brown fox jumps over a lazy dog and then it walks home through green fields".split(
  " ",
);
const MAX_WORDS = 20_000;

const longAnswer: Rule = (text) => {
  const match =
    /(?:^|\b)(?:a )?(?:long )?(?:answer|text|story)(?: of| with)? (?:about )?(\d{1,6}) words|^(\d{1,6}) words$/i
      .exec(text);
  if (!match) return null;
  const count = Math.min(MAX_WORDS, Math.max(1, Number(match[1] ?? match[2])));
  const words = Array.from({ length: count }, (_, n) => {
    const word = WORDS[n % WORDS.length]!;
    return n % 17 === 16 ? `${word}.\n` : `${word} `;
  });
  return said("long", `${count} words are wanted.`, words.join("").trim());
};

/** In this order; the first that fits wins. */
const RULES: readonly Rule[] = [
  longAnswer,
  listFiles,
  replaceText,
  writeFile,
  runCommand,
  askMe,
  thinkAloud,
  plan,
  remember,
  search,
  readFile,
];

export const ABILITIES = [
  "list files",
  "read README.md",
  "search hello",
  'write "some text" to notes.txt',
  "replace A by B in notes.txt",
  "run `ls -la`",
  "plan a small project",
  "ask me something",
  "remember that I like tea",
  "think aloud about anything",
  "long answer of 300 words",
];

/** The first rule that fits the request, or its last line when earlier ones were left unanswered. */
export function findIntent(request: string): Intent | null {
  const lines = request.trim().split("\n");
  return matchRules(request) ?? (lines.length > 1 ? matchRules(lines.at(-1)!) : null);
}

function matchRules(text: string): Intent | null {
  const plain = text.trim().replace(/^(please|can you|could you|would you)[, ]+/i, "").replace(/[.!?]+$/, "")
    .trim();
  for (const rule of RULES) {
    const intent = rule(plain);
    if (intent) return intent;
  }
  return null;
}
