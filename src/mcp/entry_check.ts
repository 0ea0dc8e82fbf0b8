/**
 * A look at what an entry would run (core.md G.3): an inline script of a shell that sends secrets away or plants
 * something that survives is not started. It catches what is copied from a bad tutorial, not a determined author.
 */

const SHELLS = /^(ba|z|da|k|fi|c|tc|a)?sh(\.exe)?$|^(pwsh|powershell|cmd)(\.exe)?$/i;
/** They run what their arguments name. */
const STARTERS =
  /^(env|busybox|nohup|nice|ionice|setsid|timeout|stdbuf|sudo|doas|xargs|exec|command)(\.exe)?$/i;
const INLINE = /^(-[a-z]*c[a-z]*|\/c|-command|-encodedcommand|-e)$/i;

const SENDS =
  /\b(curl|wget|nc|ncat|netcat|socat|ftp|sftp|scp|rsync|telnet|invoke-webrequest|invoke-restmethod|iwr)\b|\/dev\/(tcp|udp)\//i;
const TAKES = new RegExp(
  [
    String.raw`(\s|^)(-d|--data\S*|-F|--form|-T|--upload-file|--post-data|--post-file)[\s=@'"]`,
    String.raw`\|\s*(curl|wget|nc|ncat|netcat|socat)\b`,
    String.raw`\$\{?\w*(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)\w*`,
    String.raw`\.(env|ssh|aws|gnupg|netrc|npmrc|kube)\b`,
    String.raw`\bid_(rsa|ed25519|ecdsa)\b|/etc/(passwd|shadow)\b`,
    String.raw`\b(env|printenv)\s*\|`,
  ].join("|"),
  "i",
);
const LASTING = new RegExp(
  [
    String.raw`authorized_keys|\.ssh/|/etc/ssh/|/etc/pam\.d|/etc/sudoers|/etc/cron|/var/spool/cron`,
    String.raw`\.(bashrc|zshrc|profile|bash_profile|zprofile|zshenv|bash_login)\b|/etc/(profile|rc\.local)`,
    String.raw`config\.fish|/etc/systemd|LaunchAgents|LaunchDaemons`,
  ].join("|"),
  "i",
);
const WRITES = />|\btee\b|\b(cp|mv|ln|install|dd|chmod)\s|\bsed\s+-i/i;
const CRONTAB = /\bcrontab\s+(?!-l\b)\S|\|\s*crontab\b/i;

function nameOf(program: string): string {
  return program.split(/[\\/]/).at(-1) ?? program;
}

/** The arguments of the shell that is started, straight or through programs that only start another; `null` = none. */
function shellArguments(command: string, args: readonly string[]): readonly string[] | null {
  if (SHELLS.test(nameOf(command))) return args;
  if (!STARTERS.test(nameOf(command))) return null;
  // `env -S` takes a whole command line in one argument.
  const words = args.flatMap((arg) => arg.split(/\s+/)).map((word) =>
    word.replace(/^(-S|--split-string=)?["']?/, "")
  );
  const at = words.findIndex((word) => SHELLS.test(nameOf(word)));
  return at < 0 ? null : words.slice(at + 1);
}

/** Why it is not started; `null` = nothing to say. */
export function suspicion(command: string, args: readonly string[]): string | null {
  const given = shellArguments(command, args);
  if (!given?.some((arg) => INLINE.test(arg))) return null;
  const script = given.join(" ");
  if (SENDS.test(script) && TAKES.test(script)) return "its shell script sends private data over the network";
  if ((LASTING.test(script) && WRITES.test(script)) || CRONTAB.test(script)) {
    return "its shell script writes to a place that survives (login files, keys, cron)";
  }
  return null;
}
