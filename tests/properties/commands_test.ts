/**
 * The command guard against spellings (core.md C.1, C.2): whatever quotes, expansions, wrappers and detours a
 * command that is never run is written with, it is found; the reader stands any text; harmless look-alikes stay free.
 */
import { findHardBlock } from "@/approvals/hard_block.ts";
import { analyse } from "@/approvals/look_through.ts";
import { cleanSource } from "@/approvals/shell_words.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { fc, holds } from "./support.ts";

const HOME = "/home/anna";
const VARS = new Map([["HOME", HOME], ["HERMES_HOME", `${HOME}/.hermes`], ["IFS", " "]]);

function blocked(command: string): boolean {
  return findHardBlock(analyse(cleanSource(command), VARS, null), HOME) !== null;
}

/** One of each kind, as words. */
const BASES: readonly (readonly string[])[] = [
  ["rm", "-rf", "/"],
  ["rm", "-r", "-f", "/*"],
  ["rm", "--recursive", "--force", "/etc"],
  ["rm", "-rf", "/home/anna"],
  ["rm", "-rf", "/usr/"],
  ["mkfs.ext4", "/dev/sda1"],
  ["mkfs", "-t", "ext4", "/dev/nvme0n1"],
  ["dd", "if=/dev/zero", "of=/dev/sda"],
  ["shutdown", "-h", "now"],
  ["reboot"],
  ["poweroff", "-f"],
  ["halt"],
  ["init", "0"],
  ["telinit", "6"],
  ["systemctl", "poweroff"],
  ["kill", "-9", "-1"],
];

// ── How one word can be written ─────────────────────────────────────────────────────────────────────────────

type Spell = (word: string, n: number) => string;

const hex = (c: string) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
const octal = (c: string) => `\\${c.charCodeAt(0).toString(8).padStart(3, "0")}`;
const unicode = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
const wide = (c: string) => /[a-z0-9]/.test(c) ? String.fromCharCode(c.charCodeAt(0) + 0xfee0) : c;
const hasGlob = (word: string) => /[*?[]/.test(word);
const at = (word: string, n: number) => n % (word.length + 1);

const SPELLINGS: readonly Spell[] = [
  (word) => word,
  (word) => hasGlob(word) ? word : `'${word}'`,
  (word) => hasGlob(word) ? word : `"${word}"`,
  (word) => hasGlob(word) ? word : `$'${[...word].map(hex).join("")}'`,
  (word) => hasGlob(word) ? word : `$'${[...word].map(octal).join("")}'`,
  (word) => hasGlob(word) ? word : `$'${[...word].map(unicode).join("")}'`,
  (word) => hasGlob(word) ? word : `$"${word}"`,
  (word) => hasGlob(word) ? word : [...word].map((c) => `\\${c}`).join(""),
  (word, n) => `${word.slice(0, at(word, n))}''${word.slice(at(word, n))}`,
  (word, n) => `${word.slice(0, at(word, n))}""${word.slice(at(word, n))}`,
  (word, n) => `${word.slice(0, at(word, n))}\\\n${word.slice(at(word, n))}`,
  (word, n) => `${word.slice(0, at(word, n))}$@${word.slice(at(word, n))}`,
  (word, n) => `${word.slice(0, at(word, n))}$(true)${word.slice(at(word, n))}`,
  (word, n) => `${word.slice(0, at(word, n))}\`:\`${word.slice(at(word, n))}`,
  (word, n) => `${word.slice(0, at(word, n))}\u200b${word.slice(at(word, n))}`,
  (word) => `\${nothing:-${word}}`,
  (word) => `\${v_${word.replace(/\W/g, (c) => `_${c.charCodeAt(0)}`)}:=${word}}`,
  (word) => `$(echo ${word})`,
  (word) => `$(echo -n ${word})`,
  (word) => `\`echo ${word}\``,
  (word) => hasGlob(word) || word.startsWith("-") ? word : `$(printf '${word}')`,
  (word) => hasGlob(word) ? word : `$(printf %s '${word}')`,
  (word) => [...word].map(wide).join(""),
];

/** Only for the name of the program. */
const NAMES: readonly Spell[] = [
  (name) => `/sbin/${name}`,
  (name) => `/usr/bin/../bin/${name}`,
  (name) => `\\${name}`,
  (name) => name.toUpperCase(),
  (name, n) => `${name.slice(0, at(name, n))}\${nothing}${name.slice(at(name, n))}`,
  (name, n) => `${name.slice(0, at(name, n))}$*${name.slice(at(name, n))}`,
  (name) => `$(command -v ${name})`,
  (name) => `$(which ${name})`,
  (name) => `"$(type -P ${name})"`,
];

const blank = fc.constantFrom(" ", "\t", "  ", " \\\n ", "${IFS}", "$IFS$9");

const spelled = fc.constantFrom(...BASES).chain((words) =>
  fc.tuple(
    fc.tuple(fc.constantFrom(...SPELLINGS, ...NAMES), fc.nat(20)),
    fc.array(fc.tuple(fc.constantFrom(...SPELLINGS), fc.nat(20)), {
      minLength: words.length - 1,
      maxLength: words.length - 1,
    }),
    fc.array(blank, { minLength: words.length, maxLength: words.length }),
  ).map(([[name, n], spells, blanks]) =>
    words.map((word, i) => i === 0 ? name(word, n) : blanks[i]! + spells[i - 1]![0](word, spells[i - 1]![1]))
      .join("")
  )
);

// ── Where a command can stand ───────────────────────────────────────────────────────────────────────────────

type Place = (command: string) => string;

const quoteFor = (command: string) => `'${command.replaceAll("'", `'\\''`)}'`;

/** Before a program. */
const WRAPPERS: readonly Place[] = [
  (c) => `sudo ${c}`,
  (c) => `sudo -n -u root -- ${c}`,
  (c) => `doas ${c}`,
  (c) => `env A=1 ${c}`,
  (c) => `env -i PATH=/bin ${c}`,
  (c) => `A=1 B=2 ${c}`,
  (c) => `nohup ${c} >/dev/null 2>&1 &`,
  (c) => `2>&1 >log ${c}`,
  (c) => `exec ${c}`,
  (c) => `command -p ${c}`,
  (c) => `nice -n 19 ${c}`,
  (c) => `nice -19 ${c}`,
  (c) => `ionice -c3 ${c}`,
  (c) => `timeout -k 1 5s ${c}`,
  (c) => `timeout --signal=KILL 5 ${c}`,
  (c) => `stdbuf -oL ${c}`,
  (c) => `setsid -w ${c}`,
  (c) => `time -p ${c}`,
  (c) => `busybox ${c}`,
  (c) => `chroot / ${c}`,
  (c) => `unshare -r ${c}`,
  (c) => `xargs ${c} < /dev/null`,
  (c) => `echo x | xargs -I{} -P 4 ${c}`,
  (c) => `find . -maxdepth 0 -exec ${c} \\;`,
  (c) => `flock /tmp/l ${c}`,
  (c) => `setpriv --reuid=0 ${c}`,
  (c) => `systemd-run --scope ${c}`,
  (c) => `pkexec ${c}`,
  (c) => `runuser -u root -- ${c}`,
  (c) => `coproc ${c}`,
  (c) => `fakeroot ${c}`,
  (c) => `faketime now ${c}`,
  (c) => `prlimit --nproc=5 ${c}`,
  (c) => `dbus-run-session -- ${c}`,
  (c) => `screen -dm ${c}`,
  (c) => `ip netns exec x ${c}`,
  (c) => `{fd}>log ${c}`,
];

/** Around a command line. */
const PLACES: readonly Place[] = [
  (c) => c,
  (c) => `ls; ${c}`,
  (c) => `ls && ${c}`,
  (c) => `ls || ${c}`,
  (c) => `true | ${c}`,
  (c) => `${c} &`,
  (c) => `(${c})`,
  (c) => `{ ${c}; }`,
  (c) => `if true; then ${c}; fi`,
  (c) => `if ${c}; then :; fi`,
  (c) => `while ${c}; do break; done`,
  (c) => `for i in 1; do ${c}; done`,
  (c) => `case x in x) ${c};; esac`,
  (c) => `case x in (x) ${c} ;; esac`,
  (c) => `f() { ${c}; }; f`,
  (c) => `function f { ${c}; }; f`,
  (c) => `! ${c}`,
  (c) => `echo $(${c})`,
  (c) => `echo "a $(${c}) b"`,
  (c) => `cat <(${c})`,
  (c) => `x=$(${c})`,
  (c) => `bash -c ${quoteFor(c)}`,
  (c) => `sh -ec ${quoteFor(c)}`,
  (c) => `bash --norc -c ${quoteFor(c)}`,
  (c) => `bash -o pipefail -c ${quoteFor(c)}`,
  (c) => `/usr/bin/env bash -c ${quoteFor(c)}`,
  (c) => `eval ${quoteFor(c)}`,
  (c) => `su root -c ${quoteFor(c)}`,
  (c) => `bash <<< ${quoteFor(c)}`,
  (c) => `bash <<'EOF'\n${c}\nEOF\n`,
  (c) => `bash <<-EOF\n${c}\n\tEOF\n`,
  (c) => `sh -s <<EOF\n${c}\nEOF\n`,
  (c) => `trap ${quoteFor(c)} EXIT`,
  (c) => `watch -n 5 ${quoteFor(c)}`,
  (c) => `env -S ${quoteFor(c)}`,
  (c) => `script -c ${quoteFor(c)} /dev/null`,
  (c) => `flock /tmp/l -c ${quoteFor(c)}`,
  (c) => `printf '%s\\n' ${quoteFor(c)} | sh`,
  (c) => `echo ${quoteFor(c)} | sudo bash`,
  (c) => `cat <<'EOF' | sh\n${c}\nEOF\n`,
  (c) => `bash <(echo ${quoteFor(c)})`,
  (c) => `source <(echo ${quoteFor(c)})`,
  (c) => `. <(printf %s ${quoteFor(c)})`,
  (c) => `source /dev/stdin <<< ${quoteFor(c)}`,
  (c) => `x=${quoteFor(c)}; eval "$x"`,
  (c) => `x=${quoteFor(c)}; bash -c "$x"`,
  (c) => `[ -d / ] && ${c}`,
  (c) => `[[ -d / ]] && ${c}`,
  (c) => `\n\n${c}\n`,
  (c) => `\r\n${c}\r\n`,
  (c) => `cd / ; ${c}`,
  (c) => `f() { "$@"; }; f ${c}`,
  (c) => `set -- ${c}; "$@"`,
  (c) => `bash -c '"$@"' _ ${c}`,
  (c) => `sh -c 'exec "$@"' sh ${c}`,
  (c) => `read -r x <<< ${quoteFor(c)}; $x`,
  (c) => `eval "$(cat <<'EOF'\n${c}\nEOF\n)"`,
  (c) => `echo ${quoteFor(c)} | tee log | sh`,
  (c) => `bash /dev/stdin <<< ${quoteFor(c)}`,
  (c) => `su -c${quoteFor(c)}`,
  (c) => `tmux new-session -d ${quoteFor(`sleep 1; ${c}`)}`,
  (c) => `at now <<< ${quoteFor(c)}`,
];

const plainBases = BASES.map((words) => words.join(" "));

Deno.test("core C.2: every way to write the words of a blocked command is blocked", async () => {
  await holds(fc.property(spelled, (command) => assert(blocked(command), JSON.stringify(command))), 10);
});

Deno.test("core C.2: a blocked command is blocked in every place where a shell would run it", () => {
  const passed = [...WRAPPERS, ...PLACES].flatMap((place) => plainBases.map(place)).filter((command) =>
    !blocked(command)
  );
  assertEquals(passed, []);
});

/** A here-document with the same end mark inside another is another text. */
function hasOneHereDocument(command: string): boolean {
  return command.split("EOF").length <= 3;
}

Deno.test("core C.2: wrappers in wrappers and places in places are looked through", async () => {
  // What stands in `$@` or a variable is words, not shell text: no redirection, no assignment.
  const takesWords = (place: Place) => /"\$@"|read -r/.test(place("x"));
  const nested = fc.tuple(
    fc.constantFrom(...plainBases),
    fc.array(fc.constantFrom(...WRAPPERS), { maxLength: 3 }),
    fc.constantFrom(...PLACES),
    fc.array(fc.constantFrom(...PLACES.filter((place) => !takesWords(place))), { maxLength: 2 }),
  ).map(([command, wrappers, place, places]) =>
    [...takesWords(place) ? [] : wrappers, place, ...places].reduce((inner, around) => around(inner), command)
  ).filter(hasOneHereDocument);
  await holds(fc.property(nested, (command) => assert(blocked(command), JSON.stringify(command))), 10);
});

/** Others than those that the generators make. */
const CORPUS: readonly string[] = [
  "cd / && rm -rf *",
  "cd /; rm -rf .",
  "cd / && rm -rf ./*",
  "pushd / && rm -rf *",
  "cd ~ && rm -rf *",
  "cd && rm -rf *",
  "cd $HOME; rm -rf .",
  "cd /etc && rm -rf ..",
  "cd /home/anna/x && cd .. && rm -rf *",
  "rm -rf ~anna",
  "rm -rf ~root/",
  "rm -rf ~/../anna",
  "rm -rf $HOME/.",
  "rm -rf ${HOME%/}",
  "rm -rf ${HOME:?}/*",
  "rm -rf /proc/self/root/",
  "rm -rf /proc/1/root/etc",
  "rm -rf /{bin,etc}",
  "rm -rf /{*,.*}",
  "rm -rf /??*",
  "rm -rf /[a-z]*",
  "rm -rf /.*",
  "rm -rf / --no-preserve-root",
  "rm -rf $(true)/",
  "rm -rf /`:`",
  "rm -rf /$(echo etc)",
  "{rm,-rf,/}",
  "r{m,} -rf /",
  "sh{utdown,} now",
  "/?in/rm -rf /",
  "/bin/r* -rf /",
  "/*/rm -rf /",
  "rebo{o,}t",
  "echo / | xargs rm -rf",
  "printf '/\\0' | xargs -0 rm -rf",
  "xargs rm -rf <<< /",
  "echo 'rm -rf /' | xargs -I{} sh -c {}",
  "a=r b=m; $a$b -rf /",
  "x=/; y=x; rm -rf ${!y}",
  ": ${x:=/}; rm -rf $x",
  ": ${x:=rm}; $x -rf /",
  "printf -v x '%s' /; rm -rf $x",
  "x=$(printf '\\x2f'); rm -rf $x",
  "x=$'\\x2f'; rm -rf $x",
  "set -- /; rm -rf $1",
  'f() { rm -rf "$1"; }; f /',
  "bash -c '$0 -rf /' rm",
  "bash -c 'rm -rf $1' _ /",
  "read -r a <<< /; rm -rf $a",
  "eval \"$(printf '%s ' rm -rf /)\"",
  "$(command -v rm) -rf /",
  '"$(type -P rm)" -rf /',
  "find / -exec rm -rf / {} +",
  "for ((i=0;i<1;i++)); do rm -rf /; done",
  "[[ $(rm -rf /) ]]",
  "${x:-$(rm -rf /)}",
  "cat <<EOF\n$(rm -rf /)\nEOF",
  "rm>x -rf /",
  "rm -rf >x /",
  "cat x 1> /dev/sda",
  "cat x >| /dev/sda",
  "cat x &> /dev/sda",
  "exec > /dev/sda",
  "kill -SIGKILL -1",
  "kill -n 9 -1",
  "{ echo rm -rf /; } | sh",
  "(echo rm -rf /) | sh",
  "if true; then echo rm -rf /; fi | sh",
  "if true; then x=rm; $x -rf /; fi",
  "sudo echo rm -rf / | sudo sh",
  "$(echo $(echo rm)) -rf /",
  "$(x=rm; echo $x) -rf /",
];

Deno.test("core C.2: the corpus of spellings is blocked", () => {
  assertEquals(CORPUS.filter((command) => !blocked(command)), []);
});

Deno.test("core C.1: the reader stands any text", async () => {
  const scrap = fc.array(
    fc.constantFrom(
      ..."$( ` ' \" \\ ${ } ) ( { , <( << EOF \n ; & | rm -rf / $' *[! ~ # = x < > \u0000 😀".split(" "),
      " ",
    ),
    { maxLength: 40 },
  ).map((parts) => parts.join(""));
  await holds(
    fc.property(
      fc.oneof(scrap, fc.string({ unit: "binary", maxLength: 200 })),
      (command) => void blocked(command),
    ),
    5,
  );
});

Deno.test("core C.1: functions in scripts in functions are read in bounded work", () => {
  let script = "rm -rf /";
  for (let depth = 0; depth < 6; depth++) {
    const calls = Array.from({ length: 12 }, (_, n) => `f ${n}`).join("; ");
    script = `f() { bash -c ${quoteFor(script)}; }; ${calls}`;
  }
  // Without a bound this would be read twelve to the power of six times.
  assertEquals(blocked(script), true);
});

const FREE = [
  "rm -rf ./build",
  "rm -rf /home/anna/project/dist",
  "rm -rf /tmp/x",
  "git rm -rf src",
  "dd if=/dev/zero of=disk.img",
  "systemctl status nginx",
  "kill -9 1234",
  "git init 0",
  "echo shutdown",
  "cd /home/anna/project && rm -rf *",
  "cd /tmp && rm -rf ..x",
  "cd - && rm -rf *",
  "cd $DIR && rm -rf *",
  "rm -rf $DIR/*",
  "which reboot",
  "command -v shutdown",
];

Deno.test("core C.2: a harmless command stays free, in every place", () => {
  const wrong = [...WRAPPERS, ...PLACES].flatMap((place) => FREE.map(place)).filter(blocked);
  assertEquals(wrong, []);
});

Deno.test("core C.2: a blocked command that is only text stays free", async () => {
  const mention = fc.constantFrom<Place>(
    (c) => `echo ${quoteFor(c)}`,
    (c) => `printf '%s\\n' ${quoteFor(c)}`,
    (c) => `git commit -m ${quoteFor(c)}`,
    (c) => `grep -rn ${quoteFor(c)} .`,
    (c) => `# ${c}`,
    (c) => `cat > notes.md <<'EOF'\n${c}\nEOF\n`,
    (c) => `x=${quoteFor(c)}`,
  );
  await holds(fc.property(mention, fc.constantFrom(...plainBases), (place, command) => {
    assertEquals(blocked(place(command)), false, place(command));
  }));
});
