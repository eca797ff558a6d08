import { toJson } from './manifest.ts'
import { readWorkspaceFile } from './workspace.ts'

interface Configuration {
  linter: { rules: { security?: unknown } }
  overrides?: unknown
}

/** The workspace's biome.json, without its import directions, and without the rule that Biome enables by itself for React. */
export async function writeLint(): Promise<string> {
  const configuration = JSON.parse(await readWorkspaceFile('biome.json')) as Configuration
  delete configuration.linter.rules.security
  delete configuration.overrides
  return toJson(configuration)
}
