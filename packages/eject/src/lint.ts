import { toJson } from './manifest.ts'
import { readWorkspaceFile } from './workspace.ts'

interface Configuration {
  linter: { rules: { security?: unknown } }
  overrides?: unknown
}

/** The biome.json of the workspace, without its import directions, and without the rule that Biome itself sets where it finds React. */
export async function writeLint(): Promise<string> {
  const configuration = JSON.parse(await readWorkspaceFile('biome.json')) as Configuration
  delete configuration.linter.rules.security
  delete configuration.overrides
  return toJson(configuration)
}
