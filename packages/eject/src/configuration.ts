import { toJson } from './manifest.ts'
import type { Code } from './project.ts'
import { readWorkspaceFile } from './workspace.ts'

/** How a project is checked: as this repository is. */

interface Lint {
  linter: { rules: { security?: unknown; correctness: Record<string, string> } }
  overrides?: unknown
}

/** The workspace's biome.json, without its import directions, and without the rules that Biome enables by itself for React. */
export async function writeLint(): Promise<string> {
  const configuration = JSON.parse(await readWorkspaceFile('biome.json')) as Lint
  delete configuration.linter.rules.security
  // It takes a handler in an object, `GET: () => …`, for a component.
  configuration.linter.rules.correctness.noComponentHookFactories = 'off'
  delete configuration.overrides
  return toJson(configuration)
}

interface TypeCheck {
  compilerOptions: Record<string, unknown>
}

/** The project's tsconfig.json: those options of the workspace that the app needs, and its own. */
export async function writeTypeCheck({ compilerOptions, include, exclude }: Code): Promise<string> {
  const base = JSON.parse(await readWorkspaceFile('tsconfig.base.json')) as TypeCheck
  return toJson({ compilerOptions: { ...base.compilerOptions, ...compilerOptions }, include, exclude })
}
