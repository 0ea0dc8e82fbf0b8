/**
 * Commands that need a person's consent (core.md C.3), as one table: key, shapes of text, or a test on what runs.
 * The key is what the person reads and what a grant remembers. Shapes are matched on every normal form, ignoring
 * case unless the shape says otherwise; their repetitions are bounded, so that no input makes them slow.
 */
import { type Analysis, CODE_FLAG, isShell, type Running } from "./look_through.ts";
import type { Write } from "./writes.ts";

export interface Facts {
  readonly analysis: Analysis;
  /** Normal forms of the text, home folded to `~`. */
  readonly forms: readonly string[];
  /** Written paths, home folded to `~`. */
  readonly writes: readonly Write[];
}

export interface Danger {
  readonly key: string;
  readonly shapes?: readonly RegExp[];
  readonly test?: (facts: Facts) => boolean;
}

/** Up to `n` words of the same command. */
function words(n: number): string {
  return String.raw`(?:[^\s;&|]+\s+){0,${n}}?`;
}

/** Anything within one command, at most `n` characters. */
function within(n: number): string {
  return String.raw`[^;&|\n]{0,${n}}?`;
}

function shape(source: string): RegExp {
  return new RegExp(source, "i");
}

const RM = String.raw`(?<![\w.-])rm\s+`;
const SHELL = String.raw`(?:sudo\s+)?(?:\S{0,80}\/)?(?:ba|z|k|da)?sh(?![\w.-])`;
const INTO_SHELL = String.raw`[^\n]{0,800}?\|\s*${SHELL}`;
const SCRIPTING = String.raw`(?<![\w.-])(?:python[\d.]*|perl|ruby|node)`;

/** What makes readable text into other text. */
const DECODER = String
  .raw`(?:\bbase(?:64|32|16)\s+${within(200)}(?:-[a-z]*d[a-z]*|--decode)\b|\bxxd\s+${
  within(100)
}-[a-z]*r|\bopenssl\s${within(300)}\s-d\b)`;
/** A program for scripts that reads one from its input. */
const INTO_SCRIPTING = String
  .raw`\|\s*(?:sudo\s+)?(?:\S{0,80}\/)?(?:python[\d.]*|perl|ruby|node|php|lua[\d.]*)(?:\s+-)?\s*(?=$|[;&|\n)])`;

const SYSTEM = String.raw`\/proc\/sys|\/sys\/|(?:\/private)?\/etc\/|\/private\/(?:var|tmp|home)\/`;
const PERSONAL = String
  .raw`~\/\.(?:(?:ssh|aws|gnupg|kube|docker|azure|config\/(?:autostart|environment\.d|fish|gh|git|systemd))\/|(?:bashrc|bash_(?:aliases|login|logout|profile)|zshrc|zshenv|zlogin|zprofile|profile|xprofile|gitconfig|git-credentials|netrc|pgpass|npmrc|pypirc)(?![\w.-])|hermes\/(?:\.env|auth\.json|config\.(?:jsonc|ya?ml))(?![\w.-]))`;
const PROJECT = String
  .raw`(?:[^\s"'<>|;&]{0,200}\/)?(?:\.env(?:\.[\w.-]{1,40})?|config\.(?:ya?ml|jsonc))(?![\w./-])`;
const DISK = String.raw`\/dev\/(?:sd|nvme|hd|mmcblk|vd|xvd)`;
/** Write by redirection or `tee`, also inside a text that another program will run. */
const TO = String.raw`(?:>{1,2}\|?\s*|(?<![\w.-])tee\s+(?:-\S+\s+){0,4})["']?`;

function writesTo(target: string) {
  const pattern = new RegExp(`^(?:${target})`, "i");
  return (facts: Facts) => facts.writes.some((write) => write.verb !== "remove" && pattern.test(write.path));
}

function runs(name: string | RegExp, test: (args: readonly string[]) => boolean) {
  return ({ analysis }: Facts) =>
    analysis.running.some((running) =>
      (typeof name === "string" ? running.name === name : name.test(running.name)) && test(running.args)
    );
}

/** `sudo`'s own options, up to the command it runs. */
function sudoFlags(args: readonly string[]): string[] {
  const flags: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string;
    if (word === "--" || !word.startsWith("-")) break;
    flags.push(word);
    if (/^-[A-Za-z]*[ugpCTrtDRUh]$/.test(word)) at++;
  }
  return flags;
}

function leadingOptions(args: readonly string[]): readonly string[] {
  const end = args.findIndex((word) => !word.startsWith("-"));
  return end === -1 ? args : args.slice(0, end);
}

function readsSudoPassword(args: readonly string[]): boolean {
  return sudoFlags(args).some((flag) => flag === "--stdin" || /^-[A-Za-z]*S/.test(flag));
}

/** `sudo -S` that is fed a password by the command line itself (core.md C.1 step 3). */
export function pipesSudoPassword(running: Running): boolean {
  if (running.name !== "sudo" || !readsSudoPassword(running.args)) return false;
  return running.command.piped || running.command.redirects.some(({ operator }) => operator.startsWith("<"));
}

function deletions(): Danger[] {
  return [
    {
      key: "delete in root path",
      shapes: [shape(`${RM}${words(30)}["']?/`)],
      test: runs("rm", (args) => args.some((word) => word.startsWith("/"))),
    },
    {
      key: "recursive delete",
      shapes: [shape(`${RM}${words(30)}(?:-[a-z]*r|--recursive)`)],
      test: runs("rm", (args) => args.some((word) => /^-[a-zA-Z]*[rR]|^--recursive/.test(word))),
    },
    {
      key: "xargs with rm",
      shapes: [shape(String.raw`\bxargs\s${within(300)}(?<![\w.-])(?:rm|unlink|shred)\b`)],
    },
    {
      key: "find -exec rm",
      shapes: [shape(String.raw`\bfind\s${within(600)}-exec(?:dir)?\s+(?:\S{0,80}\/)?(?:rm|unlink|shred)\b`)],
    },
    { key: "find -delete", shapes: [shape(String.raw`\bfind\s${within(600)}\s-delete\b`)] },
    {
      key: "delete through cmd",
      shapes: [shape(String.raw`\bcmd(?:\.exe)?\s+\/[ck]\b[^\n]{0,300}?\b(?:del|erase|rd|rmdir)\b`)],
    },
    {
      key: "delete through PowerShell",
      shapes: [
        shape(
          String
            .raw`\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,400}?\b(?:remove-item|rmdir|erase|del|rd|ri|rm)\b`,
        ),
      ],
    },
    {
      key: "encoded PowerShell command",
      shapes: [
        shape(String.raw`\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,400}?\s-(?:enc|encodedcommand|e)(?!\w)`),
      ],
    },
  ];
}

function systemChanges(): Danger[] {
  return [
    {
      key: "world-writable permissions",
      shapes: [
        shape(String.raw`\bchmod\s+${words(6)}["']?(?:[0-7]?(?:777|666)\b|[ugoa]*[oa][ugoa]*[+=][rwxst]*w)`),
      ],
    },
    {
      key: "recursive chown to root",
      shapes: [
        shape(String.raw`\bchown\s+${words(6)}(?:-[a-z]*R[a-z]*|--recursive)\s+${words(4)}["']?root\b`),
      ],
    },
    { key: "format filesystem", shapes: [shape(String.raw`\bmkfs\b`)] },
    { key: "disk copy", shapes: [shape(String.raw`(?<![\w.-])dd\s+${words(10)}if=`)] },
    { key: "write to block device", shapes: [shape(`>\\s*["']?${DISK}`)], test: writesTo(DISK) },
    { key: "SQL DROP", shapes: [shape(String.raw`\bdrop\s+(?:table|database)\b`)] },
    {
      key: "SQL DELETE without WHERE",
      shapes: [shape(String.raw`\bdelete\s+from\b(?![^\n]{0,2000}\bwhere\b)`)],
    },
    { key: "SQL TRUNCATE", shapes: [shape(String.raw`\btruncate\s+(?:table\s+)?["'\x60]?[a-z_]\w*`)] },
    { key: "overwrite system config", shapes: [shape(TO + `(?:${SYSTEM})`)], test: writesTo(SYSTEM) },
    { key: "overwrite personal config", shapes: [shape(TO + `(?:${PERSONAL})`)], test: writesTo(PERSONAL) },
    {
      key: "overwrite project secrets",
      shapes: [shape(TO + PROJECT)],
      test: (facts) => facts.writes.some(({ verb, path }) => verb !== "remove" && isProjectSecret(path)),
    },
  ];
}

function isProjectSecret(path: string): boolean {
  return /(?:^|\/)(?:\.env(?:\.[\w.-]+)?|config\.(?:ya?ml|jsonc))$/i.test(path);
}

function processes(): Danger[] {
  return [
    {
      key: "stop or restart a system service",
      shapes: [shape(String.raw`\bsystemctl\s+(?:-\S+\s+){0,6}(?:stop|restart|disable|mask)\b`)],
    },
    {
      key: "stop or restart containers",
      shapes: [
        shape(
          String.raw`\bdocker(?:-compose)?\s+(?:-\S+\s+){0,4}(?:(?:compose|container)\s+)?${
            words(6)
          }(?:stop|restart|kill|down)(?![\w.-])`,
        ),
      ],
    },
    {
      key: "stop the hermes service",
      shapes: [
        shape(
          String.raw`\blaunchctl\s+(?:stop|kickstart|bootout|unload|kill|disable|remove)\b${
            within(200)
          }hermes`,
        ),
      ],
    },
    { key: "kill all processes", shapes: [shape(String.raw`\bkill\s+-9\s+-1\b|\bkillall5\b`)] },
    {
      key: "force kill processes",
      shapes: [
        shape(String.raw`\bpkill\s+${words(6)}-(?:9|KILL|SIGKILL)\b`),
        shape(String.raw`\b(?:pkill|killall)\s+${words(6)}--signal[\s=]\s*(?:SIG)?(?:9|KILL)\b`),
        shape(
          String.raw`\bkillall\s+${
            words(6)
          }(?:-(?:9|KILL|SIGKILL)\b|-s\s*(?:SIG)?KILL\b|-s\s*9\b|-[a-z]*r\b)`,
        ),
      ],
    },
    {
      key: "kill hermes itself",
      shapes: [shape(String.raw`\b(?:pkill|killall)\s+${within(200)}(?:hermes|gateway|cli\.py)`)],
    },
    { key: "fork bomb", shapes: [/:\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:/] },
    {
      key: "kill what a search finds",
      shapes: [shape(String.raw`\bkill\s+${words(6)}(?:\$\(|\x60)\s*(?:pgrep|pidof)\b`)],
    },
    {
      key: "stop or restart the hermes gateway",
      shapes: [shape(String.raw`\bhermes\s+${words(6)}gateway\s+(?:stop|restart)\b`)],
    },
    {
      key: "change the settings of hermes",
      shapes: [
        shape(String.raw`\bhermes\s+${words(6)}(?:config\s+${words(4)}(?:set|unset)|setup)(?![\w-])`),
        shape(String.raw`\bhermes\s+${words(6)}model\s+${words(4)}set(?![\w-])`),
      ],
    },
    {
      key: "run hermes without approvals",
      shapes: [shape(String.raw`\bhermes\s+${words(12)}--yolo(?![\w-])`), /\bHERMES_YOLO_MODE=/],
    },
    { key: "update hermes", shapes: [shape(String.raw`\bhermes\s+update(?![\w-])`)] },
    {
      key: "start a gateway in the background",
      shapes: [
        shape(String.raw`\bgateway\s+run\b[^;|\n]{0,200}?&\s*(?:$|[;\n])`),
        shape(String.raw`\bnohup\s${within(200)}gateway\s+run\b`),
        shape(String.raw`\bgateway\s+run\b${within(200)}(?:--background|--daemon|disown)`),
      ],
    },
  ];
}

function code(): Danger[] {
  return [
    {
      key: "shell command via -c",
      shapes: [shape(String.raw`(?<![\w.-])(?:ba|z|k|da)?sh\s+(?:-\S+\s+){0,4}-[a-z]*c[a-z]*(?:\s|$)`)],
      test: ({ analysis }) =>
        analysis.running.some(({ name, args }) =>
          isShell(name) && leadingOptions(args).some((word) => CODE_FLAG.test(word))
        ),
    },
    {
      key: "script execution via flag",
      shapes: [
        shape(SCRIPTING + String.raw`\s+(?:-\S+\s+){0,4}-[ec](?=\s|["']|$)`),
        shape(String.raw`(?<![\w.-])python[\d.]*\s+(?:-\S+\s+){0,4}-[a-z]*c(?=\s|["']|$)`),
        shape(String.raw`(?<![\w.-])(?:php\s+(?:-\S+\s+){0,4}-r|lua[\d.]*\s+-e|osascript\s+-e)(?=\s|["']|$)`),
        shape(String.raw`(?<![\w.-])(?:deno\s+eval|bun\s+(?:-e|--eval|-p|--print))(?=\s|["'=]|$)`),
        shape(String.raw`(?<![\w.-])(?:perl|ruby)\s+(?:-\S+\s+){0,4}-[a-z]*e(?:\s|["']|$)`),
        shape(String.raw`(?<![\w.-])node\s+(?:-\S+\s+){0,4}(?:--eval|--print|-p|-pe)(?:\s|=|$)`),
      ],
    },
    {
      key: "script execution via heredoc",
      shapes: [
        shape(SCRIPTING + String.raw`\b[^;&|\n]{0,200}?<<(?!<)`),
        shape(String.raw`(?<![\w.-])(?:ba|z|k|da)?sh\b(?!\.)[^;&|\n]{0,200}?<<(?!<)`),
        shape(INTO_SCRIPTING),
      ],
    },
    {
      key: "pipe remote content to shell",
      shapes: [
        shape(String.raw`\b(?:curl|wget)\b${INTO_SHELL}`),
        shape(String.raw`\b(?:curl|wget)\b[^\n]{0,800}?${INTO_SCRIPTING}`),
      ],
    },
    {
      key: "run a remote script by substitution",
      shapes: [
        shape(
          String
            .raw`(?:(?<![\w.-])(?:(?:ba|z|k|da)?sh|source)|(?:^|[\s;&|])\.)\s+(?:-\S+\s+){0,4}<\s*<?\s*\(\s*(?:curl|wget)\b`,
        ),
      ],
    },
    {
      key: "evaluate remote content",
      shapes: [
        shape(String.raw`(?:\b(?:eval|source)|(?:^|[\s;&|])\.)\s+["']?(?:\$\(|\x60)\s*(?:curl|wget)\b`),
        shape(String.raw`(?<![\w.-])(?:ba|z|k|da)?sh\s+-[a-z]*c\s+["']?(?:\$\(|\x60)\s*(?:curl|wget)\b`),
      ],
    },
    {
      key: "pipe decoded content to shell",
      shapes: [
        shape(`${DECODER}${INTO_SHELL}`),
        shape(String.raw`(?:^|[;&|\n({])\s*["']?(?:\$\(|\x60)[^\n;&]{0,400}?${DECODER}`),
        shape(
          String
            .raw`(?:\b(?:eval|source)|(?:^|[\s;&|])\.|(?<![\w.-])(?:ba|z|k|da)?sh)\s[^\n;&]{0,400}?[($\x60<][^\n;&]{0,400}?${DECODER}`,
        ),
        shape(
          String
            .raw`\b(?:rev|(?:bz|xz|zstd)?cat|z(?:std)?cat|g(?:un)?zip|unxz|uudecode)\b(?<!\bcat)${INTO_SHELL}`,
        ),
        shape(String.raw`\becho\s[^\n]{0,400}?\|\s*tr\s${INTO_SHELL}`),
      ],
    },
    {
      key: "make executable and run",
      shapes: [shape(String.raw`\bchmod\s+${within(200)}\+x${within(300)}[;&|\n]+\s*(?:sudo\s+)?["']?\.\/`)],
    },
    {
      key: "sudo with shell or password options",
      test: runs(
        "sudo",
        (args) => sudoFlags(args).some((flag) => /^-[A-Za-z]*[sa]|^--(?:stdin|askpass|shell)/i.test(flag)),
      ),
    },
  ];
}

const GIT = String.raw`\bgit\s${within(300)}`;
function gitChanges(): Danger[] {
  return [
    {
      key: "git reset --hard",
      shapes: [shape(String.raw`${GIT}\breset\s${within(200)}--h(?:a(?:rd?)?)?(?=[\s"';&|)]|$)`)],
    },
    {
      key: "git force push",
      shapes: [
        shape(String.raw`${GIT}\bpush\s${within(300)}--force`),
        shape(String.raw`${GIT}\bpush\s${words(12)}-[a-z]*f[a-z]*(?=\s|$|[;&|)"'])`),
        shape(String.raw`${GIT}\bpush\s${words(12)}["']?\+[\w/]`),
      ],
    },
    {
      key: "git clean with force",
      shapes: [shape(String.raw`${GIT}\bclean\s+${words(8)}(?:-[a-z]*f|--force)`)],
    },
    {
      key: "git branch force delete",
      shapes: [
        new RegExp(String.raw`\bgit\s${within(300)}\bbranch\s+${words(6)}-[a-zA-Z]*D`),
        shape(
          String.raw`${GIT}\bbranch\s+${words(6)}(?:-[a-z]*d[a-z]*|--delete)\s+${
            words(8)
          }(?:-[a-z]*f|--force)`,
        ),
        shape(
          String.raw`${GIT}\bbranch\s+${words(6)}(?:-[a-z]*f[a-z]*|--force)\s+${
            words(8)
          }(?:-[a-z]*d\b|--delete)`,
        ),
        shape(String.raw`${GIT}\bbranch\s+${words(6)}-(?:[a-z]*d[a-z]*f|[a-z]*f[a-z]*d)`),
      ],
    },
  ];
}

/** All rows, in the order in which they are shown. Building them costs a millisecond: once, and not at start-up. */
export function buildDangers(): readonly Danger[] {
  return [...deletions(), ...systemChanges(), ...processes(), ...code(), ...gitChanges()];
}

/** Keys of everything dangerous about a command; empty when there is nothing. */
export function findDangers(facts: Facts, table: readonly Danger[]): string[] {
  const hits = table.filter((danger) =>
    danger.test?.(facts) || danger.shapes?.some((pattern) => facts.forms.some((form) => pattern.test(form)))
  );
  return hits.map((danger) => danger.key);
}
