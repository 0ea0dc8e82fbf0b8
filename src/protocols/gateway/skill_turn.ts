/**
 * User turns that are skills (tui-gateway.md B.0 `skill_invocation`, D.1): what the model was sent is the whole skill,
 * what a person has typed is `/<name> args`. Pure; the form of the text is the skill registry's (core.md B.11).
 */
export interface SkillTurn {
  readonly name: string;
  readonly args: string;
}

const HEAD = /^\[The user runs the skill "([^"\n]+)" \(folder [^\n]*\)\. Follow its instructions\.\]\n/;
const ARGS = "\n\nThe user adds:\n";

/** `null` for a text that is no expanded skill. */
export function readSkillTurn(text: string): SkillTurn | null {
  const name = HEAD.exec(text)?.[1];
  if (name === undefined) return null;
  const at = text.lastIndexOf(ARGS);
  return { name, args: at === -1 ? "" : text.slice(at + ARGS.length) };
}

/** As it was typed. */
export function typedSkill({ name, args }: SkillTurn): string {
  return args === "" ? `/${name}` : `/${name} ${args}`;
}

/** The skill that a line names by `/<name> args`; whether there is one is not looked at. */
export function readTypedSkill(line: string): SkillTurn | null {
  const [, name, args] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(line.trim()) ?? [];
  return name === undefined ? null : { name, args: args?.trim() ?? "" };
}
