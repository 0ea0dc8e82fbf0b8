/**
 * What a person does with places of skills (core.md H.2 `/skills`): see what is there, look at one, install one. In
 * bounded time; what cannot be had is told in words. Loaded at the first wish.
 */
import { HermesError, type SeenOffer, type SkillOffer, type SkillPlaceQuery } from "@/core/contract.ts";
import { ToolError } from "./args.ts";
import { installSkill, oneOffer } from "./skills_install.ts";
import { SKILL_FILE, type SkillRegistry } from "./skills_registry.ts";
import { isPlace, offersOf } from "./skills_sources.ts";
import type { SourceContext } from "./skills_web.ts";

/** Characters of a `SKILL.md` that is shown before it is installed. */
const MAX_SHOWN = 20_000;
/** For all that a place is asked for by one wish. */
const LIMIT_MS = 120_000;

export async function offersAt(
  place: string,
  registry: SkillRegistry,
  query: SkillPlaceQuery,
): Promise<readonly SkillOffer[] | null> {
  if (!isPlace(place)) return null;
  const found = await told(registry, query, (context) => offersOf(place, registry, context));
  return found.map(({ name, description, category, source }) => ({ name, description, category, source }));
}

export async function lookAt(
  place: string,
  registry: SkillRegistry,
  query: SkillPlaceQuery,
): Promise<SeenOffer> {
  return await told(registry, query, async (context) => {
    const { files, ...offer } = await oneOffer(place, registry, context);
    const found = await files();
    const content = new TextDecoder().decode(found.get(SKILL_FILE)?.data).slice(0, MAX_SHOWN).toWellFormed();
    return { ...offer, files: [...found.keys()].sort(), content };
  });
}

export async function installFrom(
  source: string,
  registry: SkillRegistry,
  query: SkillPlaceQuery,
): Promise<{ readonly name: string; readonly path: string }> {
  return await told(registry, query, (context) => installSkill(source, registry, context));
}

async function told<T>(
  { deps }: SkillRegistry,
  query: SkillPlaceQuery,
  work: (context: SourceContext) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), LIMIT_MS);
  try {
    const signal = AbortSignal.any([query.signal, limit.signal]);
    return await work({ ...deps, settings: query.settings, signal });
  } catch (error) {
    if (limit.signal.aborted && !query.signal.aborted) {
      throw new HermesError("invalid_argument", `It took longer than ${LIMIT_MS / 1000} s`);
    }
    if (error instanceof ToolError) throw new HermesError("invalid_argument", error.message);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
