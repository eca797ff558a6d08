import { toJson } from './manifest.ts'
import { readWorkspaceFile } from './workspace.ts'

interface Configuration {
  linter: { rules: { security?: unknown; correctness: Record<string, string> } }
  overrides?: unknown
}

/** The workspace's biome.json, without its import directions, and without the rules that Biome enables by itself for React. */
export async function writeLint(): Promise<string> {
  const configuration = JSON.parse(await readWorkspaceFile('biome.json')) as Configuration
  delete configuration.linter.rules.security
  // It takes a handler in an object, `GET: () => …`, for a component.
  configuration.linter.rules.correctness.noComponentHookFactories = 'off'
  delete configuration.overrides
  return toJson(configuration)
}
